// Exchanges over routes that no algorithm has: blocks wander from rank to rank before they reach their destination, so
// that few ranks forward and hold as much as otherwise many do. The plan and the exchange between all pairs of ranks
// must deliver whatever the route is.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <random>

#include "runtime/alltoall/alltoall_exchange.hpp"
#include "runtime/alltoall/alltoall_structure.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/plan/planning.hpp"
#include "runtime/world.hpp"

namespace {

bool last_request_first = false;  // does MPI_Startall start its requests in the opposite order?

}  // namespace

// The MPI standard leaves the order to the library.
extern "C" int MPI_Startall(int count, MPI_Request* requests) {
  if (!last_request_first) return PMPI_Startall(count, requests);
  for (int i = count; i-- > 0;)
    if (const int error = PMPI_Start(&requests[i]); error != MPI_SUCCESS) return error;
  return MPI_SUCCESS;
}

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

/// In each stage but the last a block stays, or goes to any rank, as a random number says that all ranks have in
/// common.
class WanderingRoute final : public Route {
 public:
  WanderingRoute(int ranks, int stages, unsigned seed) : ranks_(ranks), seed_(seed) {
    for (int stage = 0; stage < stages; ++stage) {
      const bool has_rounds = random({}, stage) % 4 > 0;
      stages_.push_back({.label = "wandering",
                         .rounds = has_rounds ? ranks - 1 : 0,
                         .one_by_one = has_rounds && random({}, stage) % 8 == 1});
    }
  }

  const std::vector<StageInfo>& stages() const override { return stages_; }
  Rank next(const Block& block, Rank at, int stage) const override {
    if (at == block.destination || stage + 1 == static_cast<int>(stages_.size())) return block.destination;
    const auto to = static_cast<Rank>(random(block, stage) % static_cast<std::uint64_t>(ranks_ + 1));
    return to < ranks_ ? to : at;
  }
  int round(Rank from, Rank to, int stage) const override {
    return stages_[static_cast<std::size_t>(stage)].rounds > 0 ? (to - from + ranks_) % ranks_ : 0;
  }
  std::vector<UniformRun> uniform_runs(Rank, int) const override { return {}; }

 private:
  std::uint64_t random(const Block& block, int stage) const {
    std::uint64_t mixed = seed_;
    for (const std::uint64_t number :
         {block.source, block.destination, block.index, stage}) {  // the finalizer of SplitMix64
      mixed += number + 0x9E3779B97F4A7C15U;
      mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9U;
      mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBU;
    }
    return mixed >> 8;
  }

  int ranks_;
  unsigned seed_;
  std::vector<StageInfo> stages_;
};

/// Many blocks for each pair, of a few bytes and of thousands, some of them with the same bytes.
Pattern many_blocks(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  Pattern pattern{ranks, {}};
  for (auto edges = random() % 120; edges > 0; --edges)
    pattern.edges.push_back({static_cast<Rank>(random() % static_cast<unsigned>(ranks)),
                             static_cast<Rank>(random() % static_cast<unsigned>(ranks)),
                             static_cast<Bytes>(random() % 3 == 0 ? random() % 5000 : random() % 50)});
  return seed % 2 == 0 ? pattern : test::with_shared_payloads(pattern, seed);
}

class Wandering : public testing::TestWithParam<unsigned> {
 protected:
  ~Wandering() override { last_request_first = false; }

  const unsigned seed_ = GetParam();
  OwnCommunicator comm_{MPI_COMM_WORLD};
};

TEST_P(Wandering, BlocksAreDelivered) {
  const WanderingRoute route(size_of(), 1 + static_cast<int>(seed_ % 6), seed_);
  const auto pattern = many_blocks(size_of(), seed_);
  last_request_first = seed_ % 3 == 0 && rank_of() % 2 == 1;  // not at both ends of a pair: they would agree again
  for (const auto coalescing : {Coalescing::coalesced, Coalescing::staggered})
    for (const int window : {0, 1, 3}) {
      SCOPED_TRACE("seed " + std::to_string(seed_) + ", window " + std::to_string(window) +
                   (coalescing == Coalescing::staggered ? ", staggered" : ""));
      auto local = test::local_part(pattern, rank_of(), seed_ % 4 == 0 ? 0 : 2, seed_);
      const auto plan = make_plan(comm_.get(), route, {window}, local.sends, local.receives, coalescing);
      Executor executor(std::make_unique<PersistentRequests>(plan, comm_.get(), 1, local.send_buffer.data(),
                                                             local.receive_buffer.data()));
      for (unsigned turn = 0; turn < 2; ++turn) {
        test::fill(local, rank_of(), turn);
        const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
        executor.start();
        executor.wait();
        ASSERT_TRUE(test::everywhere(local.receive_buffer == expected));
      }
    }
}

// One structure for exchanges of any sizes; a slot serves large and small blocks in turn.
TEST_P(Wandering, BlocksBetweenAllPairsAreDeliveredWhateverTheirSizes) {
  const WanderingRoute route(size_of(), 1 + static_cast<int>(seed_ % 8), seed_);
  const auto coalescing = seed_ % 3 == 0 ? Coalescing::staggered : Coalescing::coalesced;
  const auto structure = make_alltoall_structure(comm_.get(), route, {static_cast<int>(seed_ % 3)}, coalescing);
  AlltoallExchange exchange(comm_.get());
  AlltoallData data;
  std::mt19937 random(seed_);
  for (unsigned turn = 0; turn < 4; ++turn) {
    Pattern pattern{size_of(), {}};
    for (Rank i = 0; i < size_of(); ++i)
      for (Rank j = 0; j < size_of(); ++j)
        if (const auto kind = random() % 4; kind > 0)
          pattern.edges.push_back({i, j, static_cast<Bytes>(kind == 1 ? random() % 20000 : random() % 60)});
    auto local = test::local_part(pattern, rank_of(), 0, seed_);
    test::fill(local, rank_of(), turn);
    const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
    const auto ranks = static_cast<std::size_t>(size_of());
    std::vector<Bytes> sent(ranks), sent_at(ranks), received(ranks), received_at(ranks);
    for (const auto& edge : local.sends) {
      sent[static_cast<std::size_t>(edge.destination)] = edge.bytes;
      sent_at[static_cast<std::size_t>(edge.destination)] = edge.offset;
    }
    for (const auto& edge : local.receives) {
      received[static_cast<std::size_t>(edge.source)] = edge.bytes;
      received_at[static_cast<std::size_t>(edge.source)] = edge.offset;
    }
    data.assign({CallSide::v(local.send_buffer.data(), sent, sent_at, MPI_BYTE),
                 CallSide::v(local.receive_buffer.data(), received, received_at, MPI_BYTE)},
                comm_.get(), nullptr);
    data.begin({});
    exchange.run(structure, data);
    ASSERT_TRUE(test::everywhere(local.receive_buffer == expected)) << "seed " << seed_ << ", turn " << turn;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Wandering, testing::Range(0U, 40U));

/// From rank 0 over rank 1 to the last rank, one block behind the other.
class ChainRoute final : public Route {
 public:
  explicit ChainRoute(int blocks) : stages_(static_cast<std::size_t>(blocks) + 1, StageInfo{.label = "link"}) {}

  const std::vector<StageInfo>& stages() const override { return stages_; }
  Rank next(const Block& block, Rank at, int stage) const override {
    if (at == 0) return stage == block.index ? 1 : 0;
    return stage > block.index ? block.destination : at;
  }
  int round(Rank, Rank, int) const override { return 0; }
  std::vector<UniformRun> uniform_runs(Rank, int) const override { return {}; }

 private:
  std::vector<StageInfo> stages_;
};

// A block comes while the one before leaves, from where it lies: two places, however many blocks there are.
TEST(Transit, OfAChainOfBlocksIsTwoOfThem) {
  if (size_of() < 3) GTEST_SKIP() << "no rank forwards";
  constexpr int blocks = 7;
  constexpr Bytes bytes = 96;
  OwnCommunicator comm(MPI_COMM_WORLD);
  Pattern pattern{size_of(), {}};
  for (int i = 0; i < blocks; ++i) pattern.edges.push_back({0, size_of() - 1, bytes});
  auto local = test::local_part(pattern, rank_of(), 0, 1);
  const auto plan = make_plan(comm.get(), ChainRoute(blocks), {}, local.sends, local.receives);
  EXPECT_EQ(plan.transit_bytes, rank_of() == 1 ? 2 * bytes : 0);
  EXPECT_EQ(plan.packing_bytes, 0);
  Executor executor(
      std::make_unique<PersistentRequests>(plan, comm.get(), 1, local.send_buffer.data(), local.receive_buffer.data()));
  test::fill(local, rank_of(), 1);
  const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
  executor.start();
  executor.wait();
  EXPECT_EQ(local.receive_buffer, expected);
}

// With each block comes one that ends on rank 1. Its place is free when it has been copied out; one that both share,
// when the other has left, too.
TEST(Transit, IsFreeAgainWhereBlocksEndOrShareAPlace) {
  if (size_of() < 3) GTEST_SKIP() << "no rank forwards";
  constexpr int blocks = 9;
  constexpr Bytes bytes = 96;
  OwnCommunicator comm(MPI_COMM_WORLD);
  for (const bool shared : {false, true}) {
    Pattern pattern{size_of(), {}};
    for (int i = 0; i < blocks; ++i)
      for (const Rank destination : {1, size_of() - 1})
        pattern.edges.push_back({0, destination, bytes, shared ? i : no_payload});
    auto local = test::local_part(pattern, rank_of(), 0, 1);
    const auto plan = make_plan(comm.get(), ChainRoute(blocks), {}, local.sends, local.receives);
    EXPECT_EQ(plan.transit_bytes, rank_of() == 1 ? (shared ? 2 : 4) * bytes : 0)
        << "one message that comes and one that leaves";
    Executor executor(std::make_unique<PersistentRequests>(plan, comm.get(), 1, local.send_buffer.data(),
                                                           local.receive_buffer.data()));
    test::fill(local, rank_of(), 1);
    const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
    executor.start();
    executor.wait();
    EXPECT_EQ(local.receive_buffer, expected);
  }
}

/// Everything of rank 0 goes to rank 1 in the first stage.
class GatherRoute final : public Route {
 public:
  const std::vector<StageInfo>& stages() const override { return stages_; }
  Rank next(const Block& block, Rank at, int stage) const override {
    return stage == 0 && at == 0 ? 1 : stage == 0 ? at : block.destination;
  }
  int round(Rank, Rank, int) const override { return 0; }
  std::vector<UniformRun> uniform_runs(Rank, int) const override { return {}; }

 private:
  std::vector<StageInfo> stages_{{.label = "gather"}, {.label = "bring"}};
};

// Rank 1 gets payloads that it needs itself and passes on: each has one place, side by side.
TEST(Transit, HoldsPayloadsThatStayAndPassOnOnce) {
  if (size_of() < 3) GTEST_SKIP() << "no rank forwards";
  constexpr Bytes small = 40, large = 1000;
  OwnCommunicator comm(MPI_COMM_WORLD);
  const Rank last = size_of() - 1;
  const Pattern pattern{
      size_of(), {{0, 1, small, 0}, {0, 1, large, 1}, {0, last, small, 0}, {0, last, large, 1}, {0, last, large, 1}}};
  auto local = test::local_part(pattern, rank_of(), 0, 1);
  const auto plan = make_plan(comm.get(), GatherRoute(), {}, local.sends, local.receives);
  EXPECT_EQ(plan.transit_bytes, rank_of() == 1      ? small + large
                                : rank_of() == last ? small + large
                                                    : 0)
      << "the last rank copies what it gets twice";
  Executor executor(
      std::make_unique<PersistentRequests>(plan, comm.get(), 1, local.send_buffer.data(), local.receive_buffer.data()));
  test::fill(local, rank_of(), 1);
  const auto expected = test::naive_exchange(local, MPI_COMM_WORLD);
  executor.start();
  executor.wait();
  EXPECT_EQ(local.receive_buffer, expected);
}

}  // namespace
}  // namespace commpass
