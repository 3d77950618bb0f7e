// Commpass's own exchanges on MPI's topologies whose ranks are neighbours several times, against messages with a tag
// for each direction.
#include <gtest/gtest.h>
#include <mpi.h>

#include <vector>

#include "commpass/commpass.h"
#include "model/pattern/neighborhood.hpp"
#include "runtime/cartesian/two_a_node.hpp"
#include "runtime/communicator.hpp"
#include "runtime/neighbor/typed_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::everywhere;
using test::rank_of;
using test::size_of;
using OwnExchangesOnGrids = test::TwoANode;
using OwnExchangesOnGraphs = test::TwoANode;

/// A rank's neighbours on a grid in the order of MPI's neighbourhood collectives, MPI_PROC_NULL among them.
struct MpiGrid {
  Grid grid;
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<int> neighbors = {};

  explicit MpiGrid(const Grid& given) : grid(given) {
    const std::vector<int> periods(grid.periodic.begin(), grid.periodic.end());
    MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(grid.dims.size()), grid.dims.data(), periods.data(), 0, &comm);
    for (std::size_t d = 0; d < grid.dims.size(); ++d) {
      int below = 0, above = 0;
      MPI_Cart_shift(comm, static_cast<int>(d), 1, &below, &above);
      neighbors.insert(neighbors.end(), {below, above});
    }
  }
  MpiGrid(const MpiGrid&) = delete;
  MpiGrid& operator=(const MpiGrid&) = delete;
  ~MpiGrid() { MPI_Comm_free(&comm); }
};

/// Of up to three dimensions, periodic and not, with sizes of 1 and 2 wherever the number of ranks allows them.
std::vector<Grid> grids_of(int ranks) {
  std::vector<int> plane(2, 0), box(3, 0);
  MPI_Dims_create(ranks, 2, plane.data());
  MPI_Dims_create(ranks, 3, box.data());
  return {{{ranks}, {true}},
          {{ranks}, {false}},
          {{ranks, 1}, {true, true}},
          {{ranks, 1}, {true, false}},
          {{1, ranks, 1}, {true, true, true}},
          {{1, ranks, 1}, {true, false, true}},
          {plane, {true, true}},
          {plane, {true, false}},
          {box, {true, true, true}},
          {box, {false, false, true}}};
}

constexpr std::size_t width = 2;
using Values = std::vector<int>;

/// Block `place` of this rank.
Values sent_blocks(std::size_t places) {
  Values values(width * places);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1000 * rank_of() + static_cast<int>(i);
  return values;
}

/// The oracle: block s arrives at place s xor 1. Places without a neighbour keep -1.
Values move_by_messages(const MpiGrid& grid, const Values& sent) {
  Values received(sent.size(), -1);
  std::vector<MPI_Request> requests(2 * grid.neighbors.size());
  for (std::size_t i = 0; i < grid.neighbors.size(); ++i) {
    const int place = static_cast<int>(i);
    MPI_Irecv(&received[width * i], width, MPI_INT, grid.neighbors[i], place ^ 1, grid.comm, &requests[2 * i]);
    MPI_Isend(&sent[width * i], width, MPI_INT, grid.neighbors[i], place, grid.comm, &requests[2 * i + 1]);
  }
  for (auto& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  return received;
}

/// The neighbours that there are: all sends by place, and the sources in the order in which these send.
struct Edges {
  std::vector<int> destinations, sources, send_places, receive_places;
};
Edges edges_of(const MpiGrid& grid) {
  Edges edges;
  for (std::size_t i = 0; i < grid.neighbors.size(); ++i) {
    const auto keep = [&](std::size_t place, std::vector<int>& ranks, std::vector<int>& places) {
      if (grid.neighbors[place] == MPI_PROC_NULL) return;
      ranks.push_back(grid.neighbors[place]);
      places.push_back(static_cast<int>(place));
    };
    keep(i, edges.destinations, edges.send_places);
    keep(i ^ 1, edges.sources, edges.receive_places);
  }
  return edges;
}

TEST_F(OwnExchangesOnGrids, BringTheBlocksOfMpisPlaces) {
  for (const auto& shape : grids_of(size_of())) {
    const MpiGrid grid(shape);
    const auto edges = edges_of(grid);
    const auto sent = sent_blocks(grid.neighbors.size()), expected = move_by_messages(grid, sent);
    std::vector<TypedBlock> sends, receives;
    const auto add = [](std::vector<TypedBlock>& blocks, const std::vector<int>& ranks,
                        const std::vector<int>& places) {
      for (std::size_t i = 0; i < ranks.size(); ++i)
        blocks.push_back({ranks[i], places[i] * static_cast<Bytes>(width * sizeof(int)), width, MPI_INT});
    };
    add(sends, edges.destinations, edges.send_places);
    add(receives, edges.sources, edges.receive_places);
    for (const auto* strategy : {"standard", "mpi", "two-step", "stfw,n=1"}) {
      Values received(sent.size(), -1);
      auto exchange = communicator_.typed_neighbor_exchange(sent.data(), sends, received.data(), receives, {strategy});
      exchange.start();
      exchange.wait();
      EXPECT_TRUE(everywhere(received == expected)) << strategy << " on " << describe(shape);
    }
  }
}

/// Runs an exchange of the C interface, and frees it.
void run(commpass_exchange exchange) {
  ASSERT_EQ(commpass_start(exchange), COMMPASS_SUCCESS);
  ASSERT_EQ(commpass_wait(exchange), COMMPASS_SUCCESS);
  commpass_exchange_free(&exchange);
}

TEST_F(OwnExchangesOnGrids, BringThemByTheInterfaceForC) {
  commpass_comm comm = nullptr;
  ASSERT_EQ(commpass_comm_create(MPI_COMM_WORLD, "lassen", &comm), COMMPASS_SUCCESS);
  for (const auto& shape : grids_of(size_of())) {
    const MpiGrid grid(shape);
    const auto edges = edges_of(grid);
    const auto sent = sent_blocks(grid.neighbors.size()), expected = move_by_messages(grid, sent);
    const int out = static_cast<int>(edges.destinations.size()), in = static_cast<int>(edges.sources.size());
    const std::vector<int> counts(edges.sources.size() + edges.destinations.size(), static_cast<int>(width));
    const std::vector<MPI_Datatype> types(counts.size(), MPI_INT);
    std::vector<int> send_at, receive_at;
    std::vector<MPI_Aint> send_bytes, receive_bytes;
    for (const int place : edges.send_places) send_at.push_back(place * static_cast<int>(width));
    for (const int place : edges.receive_places) receive_at.push_back(place * static_cast<int>(width));
    for (const int at : send_at) send_bytes.push_back(at * static_cast<MPI_Aint>(sizeof(int)));
    for (const int at : receive_at) receive_bytes.push_back(at * static_cast<MPI_Aint>(sizeof(int)));
    Values by_v(sent.size(), -1), by_w(by_v);
    commpass_exchange exchange = nullptr;
    ASSERT_EQ(commpass_neighbor_alltoallv_init(
                  sent.data(), out, edges.destinations.data(), counts.data(), send_at.data(), MPI_INT, by_v.data(), in,
                  edges.sources.data(), counts.data(), receive_at.data(), MPI_INT, MPI_INFO_NULL, comm, &exchange),
              COMMPASS_SUCCESS);
    run(exchange);
    ASSERT_EQ(
        commpass_neighbor_alltoallw_init(sent.data(), out, edges.destinations.data(), counts.data(), send_bytes.data(),
                                         types.data(), by_w.data(), in, edges.sources.data(), counts.data(),
                                         receive_bytes.data(), types.data(), MPI_INFO_NULL, comm, &exchange),
        COMMPASS_SUCCESS);
    run(exchange);
    EXPECT_TRUE(everywhere(by_v == expected && by_w == expected)) << describe(shape);
  }
  commpass_comm_free(&comm);
}

/// Block i of a Cartesian neighbourhood comes from the rank at minus offset i: so it is MPI's place i xor 1.
TEST_F(OwnExchangesOnGrids, BringThemByCartesianCollectives) {
  for (const auto& shape : grids_of(size_of())) {
    const MpiGrid grid(shape);
    const auto sent = sent_blocks(grid.neighbors.size()), expected = move_by_messages(grid, sent);
    std::vector<int> offsets;
    for (std::size_t d = 0; d < shape.dims.size(); ++d)
      for (const int step : {-1, 1})
        for (std::size_t i = 0; i < shape.dims.size(); ++i) offsets.push_back(i == d ? step : 0);
    for (const auto* strategy : {"trivial", "cartesian"}) {
      auto cart = communicator_.cart_neighborhood({shape, offsets, {}}, {strategy});
      Values by_offset(sent.size(), -1), received(by_offset);
      cart.alltoall(sent.data(), width, MPI_INT, by_offset.data(), width, MPI_INT);
      for (std::size_t i = 0; i < sent.size(); ++i) received[i] = by_offset[i ^ width];
      EXPECT_TRUE(everywhere(received == expected)) << strategy << " on " << describe(shape);
    }
  }
}

/// A rank has its neighbours several times, in an order of its own: the k-th edge to a rank is the k-th from that one.
TEST_F(OwnExchangesOnGraphs, MatchTheEdgesOfAPairInTheirOrder) {
  const int ranks = size_of();
  constexpr int times = 3;
  std::vector<int> destinations, sources;
  for (int i = 0; i < times * ranks; ++i) destinations.push_back((rank_of() + i * (i / ranks + 1)) % ranks);
  // The sources take turns; each says how many edges it has to this rank.
  std::vector<int> to_each(static_cast<std::size_t>(ranks), 0), from_each(to_each);
  for (const int destination : destinations) ++to_each[static_cast<std::size_t>(destination)];
  MPI_Alltoall(to_each.data(), 1, MPI_INT, from_each.data(), 1, MPI_INT, MPI_COMM_WORLD);
  for (int turn = 0; turn < times * ranks; ++turn)
    for (int source = ranks - 1; source >= 0; --source)
      if (from_each[static_cast<std::size_t>(source)] > turn) sources.push_back(source);
  const auto sent = sent_blocks(destinations.size());
  Values expected(width * sources.size(), -1);
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < sources.size(); ++i)
    MPI_Irecv(&expected[width * i], width, MPI_INT, sources[i], 0, MPI_COMM_WORLD, &requests.emplace_back());
  for (std::size_t i = 0; i < destinations.size(); ++i)
    MPI_Isend(&sent[width * i], width, MPI_INT, destinations[i], 0, MPI_COMM_WORLD, &requests.emplace_back());
  for (auto& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  std::vector<TypedBlock> sends, receives;
  const auto add = [](std::vector<TypedBlock>& blocks, const std::vector<int>& peers) {
    for (const int peer : peers)
      blocks.push_back({peer, static_cast<Bytes>(blocks.size() * width * sizeof(int)), width, MPI_INT});
  };
  add(sends, destinations);
  add(receives, sources);
  for (const auto* strategy : {"standard", "mpi", "two-step", "stfw,n=1"}) {
    Values received(expected.size(), -1);
    auto exchange = communicator_.typed_neighbor_exchange(sent.data(), sends, received.data(), receives, {strategy});
    exchange.start();
    exchange.wait();
    EXPECT_TRUE(everywhere(received == expected)) << strategy;
  }
}

}  // namespace
}  // namespace commpass
