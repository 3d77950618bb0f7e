// MPI Advance's names against MPI's own exchanges.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "mpi_advance.h"

namespace {

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// The blocks between all ranks, the same everywhere: of i for j, elements. Some ranks have no neighbours, some blocks
/// nothing.
struct Blocks {
  int ranks = 0;
  std::vector<int> elements;  ///< −1: they are no neighbours

  int operator()(int from, int to) const { return elements[static_cast<std::size_t>(from * ranks + to)]; }
};

Blocks random_blocks(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  Blocks blocks{ranks, {}};
  for (int i = 0; i < ranks * ranks; ++i) {
    const auto drawn = static_cast<int>(random() % 8);
    blocks.elements.push_back(drawn < 3 ? -1 : drawn == 3 ? 0 : drawn * 3);
  }
  const int lonely = static_cast<int>(random() % static_cast<unsigned>(ranks));
  for (int i = 0; i < ranks; ++i)
    blocks.elements[static_cast<std::size_t>(lonely * ranks + i)] =
        blocks.elements[static_cast<std::size_t>(i * ranks + lonely)] = -1;
  return blocks;
}

/// One side of a rank: its neighbours, and where their elements lie, with a gap between blocks.
struct Side {
  std::vector<int> peers, counts, displacements;
  int size = 0;

  Side(const Blocks& blocks, int rank, bool sends) {
    for (int other = blocks.ranks - 1; other >= 0; --other) {
      const int count = sends ? blocks(rank, other) : blocks(other, rank);
      if (count < 0) continue;
      peers.push_back(other);
      counts.push_back(count);
      displacements.push_back(size);
      size += count + 1;
    }
  }
  int degree() const { return static_cast<int>(peers.size()); }
};

std::vector<int> values(int size, int rank, int round) {
  std::vector<int> result(static_cast<std::size_t>(size));
  std::iota(result.begin(), result.end(), 1000 * rank + 100000 * round);
  return result;
}

class Neighborhood {
 public:
  explicit Neighborhood(unsigned seed, MPI_Comm comm = MPI_COMM_WORLD)
      : blocks_(random_blocks(size_of(comm), seed)),
        sends(blocks_, rank_of(comm), true),
        receives(blocks_, rank_of(comm), false) {
    EXPECT_EQ(MPIX_Dist_graph_create_adjacent(comm, receives.degree(), data(receives.peers), nullptr, sends.degree(),
                                              data(sends.peers), nullptr, MPI_INFO_NULL, 0, &mpix),
              MPI_SUCCESS);
    const int none = 0;
    MPI_Dist_graph_create_adjacent(comm, receives.degree(), receives.peers.empty() ? &none : receives.peers.data(),
                                   MPI_UNWEIGHTED, sends.degree(), sends.peers.empty() ? &none : sends.peers.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    sent = values(sends.size + 1, rank_of(comm), 0);
    received.assign(static_cast<std::size_t>(receives.size + 1), -1);
  }
  Neighborhood(const Neighborhood&) = delete;
  Neighborhood& operator=(const Neighborhood&) = delete;
  ~Neighborhood() {
    EXPECT_EQ(MPIX_Comm_free(&mpix), MPI_SUCCESS);
    EXPECT_EQ(mpix, nullptr);
    MPI_Comm_free(&graph);
  }

  /// Null for an empty list, as programs give it.
  static const int* data(const std::vector<int>& list) { return list.empty() ? nullptr : list.data(); }

  /// By MPI.
  std::vector<int> expected() const {
    std::vector<int> result(received.size(), -1);
    MPI_Neighbor_alltoallv(sent.data(), sends.counts.data(), sends.displacements.data(), MPI_INT, result.data(),
                           receives.counts.data(), receives.displacements.data(), MPI_INT, graph);
    return result;
  }
  void renew(int round) {
    std::ranges::copy(values(static_cast<int>(sent.size()), rank_of(graph), round), sent.begin());
    std::ranges::fill(received, -1);
  }
  std::vector<MPI_Aint> bytes(const Side& side) const {
    std::vector<MPI_Aint> result;
    for (const int displacement : side.displacements)
      result.push_back(displacement * static_cast<MPI_Aint>(sizeof(int)));
    return result;
  }

  Blocks blocks_;
  Side sends, receives;
  MPIX_Comm* mpix = nullptr;
  MPI_Comm graph = MPI_COMM_NULL;
  std::vector<int> sent, received;
};

TEST(Mpix, NeighborsExchangeAsByMpi) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    Neighborhood of(seed);
    const Side &s = of.sends, &r = of.receives;
    EXPECT_EQ(MPIX_Neighbor_alltoallv(of.sent.data(), s.counts.data(), s.displacements.data(), MPI_INT,
                                      of.received.data(), r.counts.data(), r.displacements.data(), MPI_INT, of.mpix),
              MPI_SUCCESS);
    EXPECT_EQ(of.received, of.expected()) << seed;
    of.renew(1);
    const auto to = of.bytes(s), from = of.bytes(r);
    const std::vector<MPI_Datatype> types(of.sent.size() + of.received.size(), MPI_INT);
    EXPECT_EQ(MPIX_Neighbor_alltoallw(of.sent.data(), s.counts.data(), to.data(), types.data(), of.received.data(),
                                      r.counts.data(), from.data(), types.data(), of.mpix),
              MPI_SUCCESS);
    EXPECT_EQ(of.received, of.expected()) << seed;
  }
}

TEST(Mpix, RequestsAreStartedAgain) {
  for (unsigned seed = 10; seed < 14; ++seed) {
    Neighborhood of(seed);
    const Side &s = of.sends, &r = of.receives;
    const auto to = of.bytes(s), from = of.bytes(r);
    const std::vector<MPI_Datatype> types(of.sent.size() + of.received.size(), MPI_INT);
    const std::vector<long> send_indices(of.sent.size()), receive_indices(of.received.size());
    MPIX_Topo* topo = nullptr;
    MPIX_Info* info = nullptr;
    EXPECT_EQ(MPIX_Info_init(&info), MPI_SUCCESS);
    if (seed % 2 == 0) {
      EXPECT_EQ(MPIX_Topo_from_neighbor_comm(of.mpix, &topo), MPI_SUCCESS);
    } else {
      EXPECT_EQ(MPIX_Topo_init(r.degree(), r.peers.data(), nullptr, s.degree(), s.peers.data(), nullptr, info, &topo),
                MPI_SUCCESS);
    }
    const auto* const sent = of.sent.data();
    auto* const received = of.received.data();
    std::vector<MPIX_Request*> requests(7);
    const auto v = [&](auto init, auto... more) {
      return init(sent, s.counts.data(), s.displacements.data(), MPI_INT, received, r.counts.data(),
                  r.displacements.data(), MPI_INT, more...);
    };
    const auto indexed = [&](auto init, auto... more) {
      return init(sent, s.counts.data(), s.displacements.data(), send_indices.data(), MPI_INT, received,
                  r.counts.data(), r.displacements.data(), receive_indices.data(), MPI_INT, more...);
    };
#define CALL(name) [](auto... arguments) { return name(arguments...); }
    EXPECT_EQ(v(CALL(MPIX_Neighbor_alltoallv_init), of.mpix, info, &requests[0]), MPI_SUCCESS);
    EXPECT_EQ(v(CALL(MPIX_Neighbor_topo_alltoallv_init), topo, of.mpix, info, &requests[1]), MPI_SUCCESS);
    EXPECT_EQ(indexed(CALL(MPIX_Neighbor_locality_alltoallv_init), of.mpix, info, &requests[2]), MPI_SUCCESS);
    EXPECT_EQ(indexed(CALL(MPIX_Neighbor_locality_topo_alltoallv_init), topo, of.mpix, info, &requests[3]),
              MPI_SUCCESS);
    EXPECT_EQ(v(CALL(MPIX_Neighbor_part_locality_alltoallv_init), of.mpix, MPI_INFO_NULL, &requests[4]), MPI_SUCCESS);
    EXPECT_EQ(v(CALL(MPIX_Neighbor_part_locality_topo_alltoallv_init), topo, of.mpix, info, &requests[5]), MPI_SUCCESS);
    EXPECT_EQ(MPIX_Neighbor_alltoallw_init(sent, s.counts.data(), to.data(), types.data(), received, r.counts.data(),
                                           from.data(), types.data(), of.mpix, info, &requests[6]),
              MPI_SUCCESS);
    for (int round = 0; round < 20; ++round) {
      of.renew(round);
      auto* const request = requests[static_cast<std::size_t>(round) % requests.size()];
      MPI_Status status;
      EXPECT_EQ(MPIX_Start(request), MPI_SUCCESS);
      EXPECT_EQ(MPIX_Wait(request, round % 2 == 0 ? &status : MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(of.received, of.expected()) << "round " << round;
    }
    EXPECT_EQ(v(CALL(MPIX_Neighbor_topo_alltoallv), topo, of.mpix), MPI_SUCCESS);
    EXPECT_EQ(indexed(CALL(MPIX_Neighbor_locality_alltoallv), of.mpix), MPI_SUCCESS);
    EXPECT_EQ(v(CALL(MPIX_Neighbor_part_locality_alltoallv), of.mpix), MPI_SUCCESS);
    EXPECT_EQ(of.received, of.expected());
    for (auto*& request : requests) {
      EXPECT_EQ(MPIX_Request_free(&request), MPI_SUCCESS);
      EXPECT_EQ(request, nullptr);
    }
    EXPECT_EQ(MPIX_Topo_free(&topo), MPI_SUCCESS);
    EXPECT_EQ(MPIX_Info_free(&info), MPI_SUCCESS);
  }
}

TEST(Mpix, RequestsAreFreedWithoutAStart) {
  Neighborhood of(20);
  const Side &s = of.sends, &r = of.receives;
  for (int round = 0; round < 3; ++round) {
    MPIX_Request* request = nullptr;
    // Earlier forms: MPI's info, and handles without their address.
    EXPECT_EQ(MPIX_Neighbor_alltoallv_init(of.sent.data(), s.counts.data(), s.displacements.data(), MPI_INT,
                                           of.received.data(), r.counts.data(), r.displacements.data(), MPI_INT,
                                           of.mpix, MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    EXPECT_EQ(MPIX_Wait(request, MPI_STATUS_IGNORE), MPI_SUCCESS) << "as MPI_Wait of an inactive request";
    EXPECT_EQ(MPIX_Request_free(request), MPI_SUCCESS);
    EXPECT_EQ(MPIX_Request_free(request), MPI_ERR_REQUEST) << "it is not followed";
  }
  EXPECT_EQ(of.received, std::vector<int>(of.received.size(), -1));
}

TEST(Mpix, AllToAllsAreThoseOfMpi) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  MPIX_Comm* comm = nullptr;
  ASSERT_EQ(MPIX_Comm_init(&comm, MPI_COMM_WORLD), MPI_SUCCESS);
  for (const int count : {0, 1, 7, 5000}) {
    const auto sent = values(count * ranks + 1, rank, count);
    std::vector<int> received(sent.size(), -1), expected(received);
    EXPECT_EQ(MPIX_Alltoall(sent.data(), count, MPI_INT, received.data(), count, MPI_INT, comm), MPI_SUCCESS);
    MPI_Alltoall(sent.data(), count, MPI_INT, expected.data(), count, MPI_INT, MPI_COMM_WORLD);
    EXPECT_EQ(received, expected) << count;
  }
  for (unsigned seed = 0; seed < 6; ++seed) {
    const auto blocks = random_blocks(ranks, seed);
    std::vector<int> send_counts, send_places, receive_counts, receive_places;
    int sends = 0, receives = 0;
    for (int other = 0; other < ranks; ++other) {
      send_counts.push_back(std::max(0, blocks(rank, other)));
      receive_counts.push_back(std::max(0, blocks(other, rank)));
      send_places.push_back(std::exchange(sends, sends + send_counts.back()));
      receive_places.push_back(std::exchange(receives, receives + receive_counts.back()));
    }
    const auto sent = values(sends + 1, rank, 1);
    std::vector<int> received(static_cast<std::size_t>(receives + 1), -1), expected(received);
    EXPECT_EQ(MPIX_Alltoallv(sent.data(), send_counts.data(), send_places.data(), MPI_INT, received.data(),
                             receive_counts.data(), receive_places.data(), MPI_INT, comm),
              MPI_SUCCESS);
    MPI_Alltoallv(sent.data(), send_counts.data(), send_places.data(), MPI_INT, expected.data(), receive_counts.data(),
                  receive_places.data(), MPI_INT, MPI_COMM_WORLD);
    EXPECT_EQ(received, expected) << seed;
  }
  EXPECT_EQ(MPIX_Comm_free(comm), MPI_SUCCESS);
}

TEST(Mpix, SparseExchangesTellSources) {
  const int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  for (unsigned seed = 0; seed < 6; ++seed) {
    // Programs make a communicator for each exchange.
    MPIX_Comm* comm = nullptr;
    MPIX_Info* info = nullptr;
    ASSERT_EQ(MPIX_Comm_init(&comm, MPI_COMM_WORLD), MPI_SUCCESS);
    ASSERT_EQ(MPIX_Info_init(&info), MPI_SUCCESS);
    const auto blocks = random_blocks(ranks, seed);
    const Side sends(blocks, rank, true), receives(blocks, rank, false);
    const auto sent = values(sends.size + 2 * ranks, rank, 0);
    int messages = -1, elements = -1;
    int *src = nullptr, *counts = nullptr, *places = nullptr;
    void* received = nullptr;
    ASSERT_EQ(MPIX_Alltoallv_crs(sends.degree(), sends.size, sends.peers.data(), sends.counts.data(),
                                 sends.displacements.data(), MPI_INT, sent.data(), &messages, &elements, &src, &counts,
                                 &places, MPI_INT, &received, info, comm),
              MPI_SUCCESS);
    ASSERT_EQ(messages, receives.degree());
    for (int i = 0; i < messages; ++i) {
      const auto peer = receives.peers.rbegin() + i;  // ascending
      EXPECT_EQ(src[i], *peer);
      EXPECT_EQ(counts[i], blocks(src[i], rank));
      const Side theirs(blocks, src[i], true);
      const auto at = std::ranges::find(theirs.peers, rank) - theirs.peers.begin();
      for (int k = 0; k < counts[i]; ++k)
        EXPECT_EQ(static_cast<int*>(received)[places[i] + k],
                  1000 * src[i] + theirs.displacements[static_cast<std::size_t>(at)] + k);
    }
    EXPECT_EQ(elements, std::accumulate(receives.counts.begin(), receives.counts.end(), 0));
    for (void* memory : {static_cast<void*>(src), static_cast<void*>(counts), static_cast<void*>(places), received})
      EXPECT_EQ(MPIX_Free(memory), MPI_SUCCESS);

    ASSERT_EQ(MPIX_Alltoall_crs(sends.degree(), sends.peers.data(), 2, MPI_INT, sent.data(), &messages, &src, 2,
                                MPI_INT, &received, info, comm),
              MPI_SUCCESS);
    ASSERT_EQ(messages, receives.degree());
    for (int i = 0; i < messages; ++i) {
      const Side theirs(blocks, src[i], true);
      const auto at = static_cast<int>(std::ranges::find(theirs.peers, rank) - theirs.peers.begin());
      EXPECT_EQ(static_cast<int*>(received)[2 * i + 1], 1000 * src[i] + 2 * at + 1);
    }
    MPIX_Free(src);
    MPIX_Free(received);
    EXPECT_EQ(MPIX_Info_free(&info), MPI_SUCCESS);
    EXPECT_EQ(MPIX_Comm_free(&comm), MPI_SUCCESS);
  }
}

TEST(Mpix, CommunicatorsAreApart) {
  const int rank = rank_of(MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    {
      Neighborhood all(static_cast<unsigned>(30 + round)), of_half(static_cast<unsigned>(40 + round), half);
      MPIX_Request *first = nullptr, *second = nullptr;
      for (const auto& [of, request] : {std::pair(&all, &first), std::pair(&of_half, &second)})
        ASSERT_EQ(MPIX_Neighbor_alltoallv_init(of->sent.data(), of->sends.counts.data(), of->sends.displacements.data(),
                                               MPI_INT, of->received.data(), of->receives.counts.data(),
                                               of->receives.displacements.data(), MPI_INT, of->mpix,
                                               static_cast<MPIX_Info*>(nullptr), request),
                  MPI_SUCCESS);
      MPIX_Start(first);
      MPIX_Start(second);
      EXPECT_EQ(MPIX_Wait(second, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(MPIX_Wait(first, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(all.received, all.expected());
      EXPECT_EQ(of_half.received, of_half.expected());
      MPIX_Request_free(&first);
      MPIX_Request_free(&second);
    }
    MPI_Comm_free(&half);  // with what it has of Commpass
  }
}

TEST(Mpix, TellsNodes) {
  MPIX_Comm* comm = nullptr;
  ASSERT_EQ(MPIX_Comm_init(&comm, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(comm->global_comm, MPI_COMM_WORLD);
  EXPECT_EQ(comm->local_comm, MPI_COMM_NULL);
  ASSERT_EQ(MPIX_Comm_topo_init(comm), MPI_SUCCESS);
  EXPECT_EQ(comm->ppn, size_of(comm->local_comm));
  EXPECT_EQ(comm->num_nodes, size_of(comm->group_comm));
  EXPECT_EQ(comm->rank_node, rank_of(comm->group_comm));
  EXPECT_EQ(comm->num_nodes * comm->ppn, size_of(MPI_COMM_WORLD));
  EXPECT_EQ(MPIX_Comm_topo_free(comm), MPI_SUCCESS);
  EXPECT_EQ(comm->local_comm, MPI_COMM_NULL);
  int first = -1, second = -1;
  EXPECT_EQ(MPIX_Comm_tag(comm, &first), MPI_SUCCESS);
  EXPECT_EQ(MPIX_Comm_tag(comm, &second), MPI_SUCCESS);
  EXPECT_EQ(second, first + 1);
  for (const int code : {MPIX_Comm_leader_init(comm, 2), MPIX_Comm_leader_free(comm), MPIX_Comm_device_init(comm),
                         MPIX_Comm_device_free(comm), MPIX_Comm_req_resize(comm, 4)})
    EXPECT_EQ(code, MPI_SUCCESS);
  EXPECT_EQ(MPIX_Comm_free(&comm), MPI_SUCCESS);
}

TEST(Mpix, WrongArgumentsAreErrorsOfMpi) {
  int rank_none = size_of(MPI_COMM_WORLD), messages = 0, one = 1, buffer[4] = {};
  MPIX_Comm *comm = nullptr, *graph = nullptr;
  MPIX_Request* request = nullptr;
  MPIX_Topo* topo = nullptr;
  EXPECT_EQ(MPIX_Comm_init(nullptr, MPI_COMM_WORLD), MPI_ERR_ARG);
  EXPECT_EQ(MPIX_Comm_init(&comm, MPI_COMM_NULL), MPI_ERR_COMM);
  EXPECT_EQ(comm, nullptr);
  EXPECT_EQ(MPIX_Alltoall(buffer, 1, MPI_INT, buffer, 1, MPI_INT, nullptr), MPI_ERR_COMM);
  EXPECT_EQ(MPIX_Start(nullptr), MPI_ERR_REQUEST);
  EXPECT_EQ(MPIX_Wait(nullptr, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
  EXPECT_EQ(MPIX_Request_free(&request), MPI_ERR_REQUEST);
  EXPECT_EQ(MPIX_Comm_free(&comm), MPI_ERR_COMM);
  EXPECT_EQ(MPIX_Topo_free(&topo), MPI_ERR_TOPOLOGY);
  for (const int rank : {-1, rank_none})
    EXPECT_EQ(MPIX_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &rank, nullptr, 0, nullptr, nullptr, MPI_INFO_NULL, 0,
                                              &graph),
              MPI_ERR_RANK);
  EXPECT_EQ(MPIX_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, nullptr, nullptr, 1, nullptr, nullptr, MPI_INFO_NULL, 0,
                                            &graph),
            MPI_ERR_ARG);
  EXPECT_EQ(MPIX_Alloc(nullptr, 1), MPI_ERR_ARG);
  ASSERT_EQ(MPIX_Comm_init(&comm, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(MPIX_Neighbor_alltoallv(nullptr, nullptr, nullptr, MPI_INT, nullptr, nullptr, nullptr, MPI_INT, comm),
            MPI_ERR_TOPOLOGY);
  EXPECT_EQ(MPIX_Topo_from_neighbor_comm(comm, &topo), MPI_ERR_TOPOLOGY);
  EXPECT_EQ(MPIX_Alltoall_crs(0, nullptr, 1, MPI_INT, nullptr, nullptr, nullptr, 1, MPI_INT, nullptr, nullptr, comm),
            MPI_ERR_ARG);
  EXPECT_EQ(MPIX_Topo_init(0, nullptr, nullptr, 1, &rank_none, nullptr, nullptr, &topo), MPI_SUCCESS);
  EXPECT_EQ(MPIX_Neighbor_topo_alltoallv_init(buffer, &one, &messages, MPI_INT, buffer, nullptr, nullptr, MPI_INT, topo,
                                              comm, nullptr, &request),
            MPI_ERR_ARG)
      << "the rank of the topology is none of the communicator";
  EXPECT_EQ(request, nullptr);
  EXPECT_EQ(MPIX_Topo_free(&topo), MPI_SUCCESS);
  // A count below 0, on all ranks.
  const int negative = -1, self = rank_of(MPI_COMM_WORLD), zero = 0;
  ASSERT_EQ(
      MPIX_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &self, nullptr, 1, &self, nullptr, MPI_INFO_NULL, 0, &graph),
      MPI_SUCCESS);
  EXPECT_EQ(MPIX_Neighbor_alltoallv_init(buffer, &negative, &zero, MPI_INT, buffer + 2, &negative, &zero, MPI_INT,
                                         graph, static_cast<MPIX_Info*>(nullptr), &request),
            MPI_ERR_ARG);
  EXPECT_EQ(MPIX_Neighbor_alltoallv(buffer, nullptr, nullptr, MPI_INT, buffer + 2, nullptr, nullptr, MPI_INT, graph),
            MPI_ERR_ARG);
  EXPECT_EQ(MPIX_Comm_free(&graph), MPI_SUCCESS);
  EXPECT_EQ(MPIX_Comm_free(&comm), MPI_SUCCESS);
}

// The last test: MPI_Finalize frees these.
TEST(MpixLast, LeavesHandlesToFinalize) {
  MPIX_Comm *comm = nullptr, *graph = nullptr;
  MPIX_Request* request = nullptr;
  MPIX_Topo* topo = nullptr;
  MPIX_Info* info = nullptr;
  const int self = rank_of(MPI_COMM_WORLD), one = 1, zero = 0;
  static int sent = 1, received = 0;
  ASSERT_EQ(MPIX_Comm_init(&comm, MPI_COMM_WORLD), MPI_SUCCESS);
  ASSERT_EQ(MPIX_Comm_topo_init(comm), MPI_SUCCESS);
  ASSERT_EQ(
      MPIX_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &self, nullptr, 1, &self, nullptr, MPI_INFO_NULL, 0, &graph),
      MPI_SUCCESS);
  ASSERT_EQ(MPIX_Neighbor_alltoallv_init(&sent, &one, &zero, MPI_INT, &received, &one, &zero, MPI_INT, graph,
                                         static_cast<MPIX_Info*>(nullptr), &request),
            MPI_SUCCESS);
  ASSERT_EQ(MPIX_Topo_from_neighbor_comm(graph, &topo), MPI_SUCCESS);
  ASSERT_EQ(MPIX_Info_init(&info), MPI_SUCCESS);
  EXPECT_EQ(MPIX_Start(request), MPI_SUCCESS);
}

}  // namespace
