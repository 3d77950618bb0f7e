// No rank has more messages in flight than the limits allow, and which sends have new requests. Sees every send of this
// rank, and when MPI says that it is complete (PMPI).
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <set>

#include "model/route/catalogue.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"
#include "selector/environment/environment.hpp"

namespace {

/// The sends of this rank. Those of MPI_COMM_WORLD are the test's own.
struct Sends {
  std::map<MPI_Request, int> persistent;  // their receivers
  std::map<MPI_Request, int> active;
  int ranks_a_node = 1;
  std::size_t most = 0, most_off_node = 0;
  std::map<int, int> made_anew;  // bytes of immediate sends that are not synchronous, by receiver

  void begin(MPI_Request request, int peer) {
    active[request] = peer;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const auto leaves = [&](const auto& send) { return send.second / ranks_a_node != rank / ranks_a_node; };
    most = std::max(most, active.size());
    most_off_node = std::max(most_off_node, static_cast<std::size_t>(std::ranges::count_if(active, leaves)));
  }
  void forget() { most = most_off_node = 0; }
};
Sends sends;

std::vector<MPI_Request> copy_of(int count, const MPI_Request* requests) { return {requests, requests + count}; }

}  // namespace

extern "C" {

int MPI_Isend(const void* at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const int code = PMPI_Isend(at, count, type, peer, tag, comm, request);
  if (comm != MPI_COMM_WORLD) {
    sends.begin(*request, peer);
    sends.made_anew[peer] += count;
  }
  return code;
}

int MPI_Issend(const void* at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const int code = PMPI_Issend(at, count, type, peer, tag, comm, request);
  sends.begin(*request, peer);
  return code;
}

int MPI_Send_init(const void* at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int code = PMPI_Send_init(at, count, type, peer, tag, comm, request);
  sends.persistent[*request] = peer;
  return code;
}

int MPI_Ssend_init(const void* at, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  const int code = PMPI_Ssend_init(at, count, type, peer, tag, comm, request);
  sends.persistent[*request] = peer;
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  sends.persistent.erase(*request);
  return PMPI_Request_free(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i)
    if (const auto found = sends.persistent.find(requests[i]); found != sends.persistent.end())
      sends.begin(requests[i], found->second);
  return PMPI_Startall(count, requests);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const auto before = copy_of(count, requests);
  const int code = PMPI_Waitall(count, requests, statuses);
  for (const auto request : before) sends.active.erase(request);
  return code;
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  const auto before = copy_of(count, requests);
  const int code = PMPI_Testall(count, requests, flag, statuses);
  if (*flag)
    for (const auto request : before) sends.active.erase(request);
  return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const auto before = *request;
  const int code = PMPI_Test(request, flag, status);
  if (*flag) sends.active.erase(before);
  return code;
}

int MPI_Testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  const auto before = copy_of(count, requests);
  const int code = PMPI_Testsome(count, requests, completed, indices, statuses);
  for (int i = 0; *completed != MPI_UNDEFINED && i < *completed; ++i)
    sends.active.erase(before[static_cast<std::size_t>(indices[i])]);
  return code;
}

}  // extern "C"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

/// A communicator on nodes of some ranks, with limits.
Communicator limited(int ranks_a_node, const Limits& limits) {
  sends.ranks_a_node = ranks_a_node;
  CommunicatorOptions options{Layout::with_ppn(size_of(), ranks_a_node)};
  options.limits = limits;
  return {MPI_COMM_WORLD, test::some_machine(), options};
}

Pattern all_to_all() {
  Pattern pattern{size_of(), {}};
  for (Rank source = 0; source < size_of(); ++source)
    for (Rank destination = 0; destination < size_of(); ++destination)
      pattern.edges.push_back({source, destination, 1 + source % 3 * 1000});
  return pattern;
}

constexpr std::size_t no_limit = 1000;

bool applies(const char* text, const Layout& layout) {
  if (*text == '\0') return true;  // the choice
  const auto strategy = parse_strategy(text);
  return catalogue_row(strategy.route).inapplicable(strategy, layout).empty();
}

struct Case {
  int ranks_a_node;
  std::size_t off_node, all;
};

class SendsOf : public testing::TestWithParam<Case> {
 protected:
  Communicator communicator() const {
    const auto [ranks_a_node, off_node, all] = GetParam();
    Limits limits;
    limits.messages_off_node = static_cast<int>(off_node);
    if (all != no_limit) limits.messages = static_cast<int>(all);
    return limited(ranks_a_node, limits);
  }
  /// That the sends since forget() kept the limits. Without limits it would not: see SendsOfAll.
  static void expect_kept(const std::string& what) {
    EXPECT_LE(sends.most_off_node, GetParam().off_node) << what;
    EXPECT_LE(sends.most, GetParam().all) << what;
  }
};

TEST_P(SendsOf, PlannedExchangesKeepLimits) {
  auto on = communicator();
  for (const auto& pattern : {all_to_all(), test::random_pattern(size_of(), 7)})
    for (const char* text : {"standard", "standard,window=2", "standard,staggered", "two-step", "stfw,n=2",
                             "tuna,radix=3", "three-step", ""}) {
      if (!applies(text, on.layout())) continue;
      auto local = test::local_part(pattern, rank_of(), 1, 3);
      test::fill(local, rank_of(), 1);
      ExchangeOptions options;
      options.strategy = text;
      auto exchange = on.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(),
                                           local.receives, options);
      sends.forget();
      for (const unsigned turn : {1U, 2U, 3U}) EXPECT_TRUE(test::delivers(exchange, local, turn)) << text;
      expect_kept(text);
    }
}

// Open MPI has a shorter way for them. A calibration would have told.
TEST(NewRequests, AreThoseOfSmallSendsWithinNodesWhereNoCalibrationTells) {
  constexpr Bytes small = 256;
  const auto sent_anew = [](Machine machine, Bytes bytes) {
    sends.ranks_a_node = 2;
    Communicator communicator(MPI_COMM_WORLD, std::move(machine), {Layout::with_ppn(size_of(), 2)});
    auto local = test::local_part(test::all_to_all(size_of(), bytes), rank_of(), 0, 1);
    auto exchange = test::plan_local(communicator, local, {"standard"});
    sends.made_anew.clear();
    EXPECT_TRUE(test::delivers(exchange, local, 1));
    return sends.made_anew;
  };
  auto machine = test::some_machine();
  machine.operations.new_send_bytes.reset();
  std::map<int, int> to_mate;
#ifdef OPEN_MPI
  if (const Rank mate = rank_of() ^ 1; mate < size_of()) to_mate[mate] = static_cast<int>(small);
#endif
  EXPECT_EQ(sent_anew(machine, small), to_mate);
  EXPECT_TRUE(sent_anew(machine, small + 1).empty());
  auto calibrated = machine;
  calibrated.verdict = Verdict{};
  EXPECT_TRUE(sent_anew(calibrated, small).empty()) << "it found none that are faster";
  machine.operations.new_send_bytes = 16;
  EXPECT_TRUE(sent_anew(machine, small).empty());
  EXPECT_EQ(sent_anew(machine, 16).size(), static_cast<std::size_t>(size_of() - 1)) << "to all ranks";
}

TEST_P(SendsOf, AllToAllsThatAreCalledOnceKeepLimits) {
  auto on = communicator();
  const auto ranks = static_cast<std::size_t>(size_of());
  for (const char* text : {"standard", "two-step", "stfw,n=2", "standard,staggered", ""}) {
    if (!applies(text, on.layout())) continue;
    std::vector<int> counts(ranks), displacements(ranks), received(ranks), places(ranks);
    int sent = 0, came = 0;
    for (std::size_t peer = 0; peer < ranks; ++peer) {
      counts[peer] = (rank_of() + static_cast<int>(peer)) % 4 * 700;
      received[peer] = counts[peer];  // the same sum for the two
      displacements[peer] = std::exchange(sent, sent + counts[peer]);
      places[peer] = std::exchange(came, came + received[peer]);
    }
    std::vector<int> from(static_cast<std::size_t>(sent)), to(static_cast<std::size_t>(came), -1), expected(to.size());
    for (std::size_t peer = 0; peer < ranks; ++peer) {
      std::fill_n(from.begin() + displacements[peer], counts[peer], rank_of() * 100 + static_cast<int>(peer));
      std::fill_n(expected.begin() + places[peer], received[peer], static_cast<int>(peer) * 100 + rank_of());
    }
    AlltoallvOptions options;
    options.strategy = text;
    sends.forget();
    on.alltoallv(from.data(), counts, displacements, MPI_INT, to.data(), received, places, MPI_INT, options);
    EXPECT_EQ(to, expected) << text;
    expect_kept(text);
  }
}

TEST_P(SendsOf, SparseExchangesKeepLimits) {
  auto on = communicator();
  for (const char* text : {"direct+nbx", "direct+allreduce", "direct+reduce", "direct+dense", "two-step+nbx"}) {
    std::vector<int> from(static_cast<std::size_t>(size_of()), rank_of());
    std::vector<SendEdge> edges;
    for (Rank peer = 0; peer < size_of(); ++peer)
      edges.push_back({peer, peer * static_cast<Bytes>(sizeof(int)), static_cast<Bytes>(sizeof(int))});
    SparseOptions options;
    options.strategy = text;
    sends.forget();
    const auto result = on.sparse_alltoallv(from.data(), edges, options);
    ASSERT_EQ(result.size(), edges.size()) << text;
    expect_kept(text);
  }
}

INSTANTIATE_TEST_SUITE_P(Limits, SendsOf,
                         testing::Values(Case{1, 1, no_limit}, Case{1, 2, no_limit}, Case{2, 1, no_limit},
                                         Case{2, 64, 1}, Case{3, 2, 3}));

// The counter counts: without limits all is in flight at once.
TEST(SendsOfAll, AreInFlightAtOnceWithoutLimits) {
  auto on = limited(1, {});
  auto local = test::local_part(all_to_all(), rank_of(), 1, 3);
  ExchangeOptions options;
  options.strategy = "standard";
  auto exchange =
      on.neighbor_exchange(local.send_buffer.data(), local.sends, local.receive_buffer.data(), local.receives, options);
  sends.forget();
  EXPECT_TRUE(test::delivers(exchange, local));
  EXPECT_EQ(sends.most_off_node, static_cast<std::size_t>(size_of() - 1));
}

// Profile < COMMPASS_LIMITS < hint < the program's own.
TEST(Limits, OfTheProgramGoBeforeThoseOfHints) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "commpass_limits", "messages_off_node=3,partners=7");
  auto machine = test::some_machine();
  machine.limits = {.messages_off_node = 5, .messages = 6};
  CommunicatorOptions options;
  options.info = info;
  options.limits.partners = 9;
  const Communicator on(MPI_COMM_WORLD, machine, options);
  EXPECT_EQ(on.machine().limits, (Limits{.messages_off_node = 3, .messages = 6, .partners = 9}));
  MPI_Info_set(info, "commpass_limits", "messages_of_node=3");
  EXPECT_THROW(Communicator(MPI_COMM_WORLD, machine, options), Error);
  MPI_Info_free(&info);
}

}  // namespace
}  // namespace commpass
