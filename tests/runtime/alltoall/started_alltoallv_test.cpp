// Exchanges between all pairs of ranks that are started and waited for later, on the ranks that mpirun gives.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/alltoall/alltoall_structure.hpp"
#include "runtime/communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;
using test::some_machine;

std::vector<std::string> started_strategies(const Layout& layout) {
  std::vector<std::string> result;
  for (const auto& strategy : suggest_strategies(layout))
    if (pattern_need(strategy) == PatternNeed::nothing) result.push_back(to_string(strategy));
  for (const char* text : {"standard,window=1", "standard,staggered", "two-step,staggered,window=2",
                           "local-then-node,window=1", "stfw,dims=3x2x5x7,window=2,staggered"})
    result.emplace_back(text);
  return result;
}

Layout one_node() { return parse_layout("1x" + std::to_string(size_of()), size_of()); }

/// An all-to-all of numbers that name their source and destination: `first_count` to each
/// rank, or r more to rank r.
class Numbers {
 public:
  explicit Numbers(int first_count, bool equal = false) {
    const auto ranks = static_cast<std::size_t>(size_of());
    int sent = 0, received = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      send_counts.push_back(equal ? first_count : first_count + static_cast<int>(rank));
      receive_counts.push_back(equal ? first_count : first_count + rank_of());
      send_at.push_back(sent);
      receive_at.push_back(received);
      sent += send_counts.back();
      received += receive_counts.back();
      out.insert(out.end(), static_cast<std::size_t>(send_counts.back()), 100 * rank_of() + static_cast<int>(rank));
      expected.insert(expected.end(), static_cast<std::size_t>(receive_counts.back()),
                      100 * static_cast<int>(rank) + rank_of());
    }
    in.assign(expected.size(), -1);
  }

  StartedAlltoallv start(Communicator& communicator, const std::string& strategy = {}) {
    return communicator.start_alltoallv(out.data(), send_counts, send_at, MPI_INT, in.data(), receive_counts,
                                        receive_at, MPI_INT, {strategy, {}});
  }
  void run(Communicator& communicator, const std::string& strategy = {}) {
    communicator.alltoallv(out.data(), send_counts, send_at, MPI_INT, in.data(), receive_counts, receive_at, MPI_INT,
                           {strategy, {}});
  }

  std::vector<int> send_counts, send_at, receive_counts, receive_at, out, in, expected;
};

// Each rank does so alone, and must find what the others mean.
TEST(AlltoallStructure, IsTheSameWhetherRanksTellEachOtherOrNot) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const auto messages = [](const std::vector<AlltoallStructure::Message>& list) {
    std::vector<std::array<std::size_t, 6>> result;
    for (const auto& m : list)
      result.push_back({static_cast<std::size_t>(m.peer), m.first, m.blocks, m.first_announced, m.announced, m.slot});
    return result;
  };
  for (unsigned seed = 0; seed < 3; ++seed) {
    const auto layout = test::random_layout(size_of(), seed);
    for (const auto& text : started_strategies(layout)) {
      const auto strategy = parse_strategy(text);
      const auto route = make_route(strategy, layout);
      if (is_run_by_library(*route)) continue;
      SCOPED_TRACE(text + ", " + layout.describe());
      const auto told = make_alltoall_structure(comm, *route, strategy.window, strategy.coalescing);
      const auto found =
          find_alltoall_structure({*route, strategy.window, strategy.coalescing, rank_of(), layout.ranks()});
      ASSERT_TRUE(test::everywhere(messages(told.receives) == messages(found.receives)));
      ASSERT_TRUE(test::everywhere(messages(told.sends) == messages(found.sends)));
      ASSERT_TRUE(test::everywhere(told.blocks == found.blocks && told.announced == found.announced));
      ASSERT_TRUE(test::everywhere(told.forwarded == found.forwarded && told.slots == found.slots));
      ASSERT_TRUE(test::everywhere(std::ranges::equal(told.batches, found.batches, [](const auto& a, const auto& b) {
        return a.receives_end == b.receives_end && a.sends_end == b.sends_end;
      })));
    }
  }
  MPI_Comm_free(&comm);
}

// A rank that has started tells the next one, which starts only then: who waited in the start would wait for ever.
TEST(StartedAlltoallv, StartsWithoutWaitingForAnyOtherRank) {
  const auto layout = test::random_layout(size_of(), 5);
  for (const auto& text : started_strategies(layout)) {
    SCOPED_TRACE(text);
    Communicator communicator(MPI_COMM_WORLD, some_machine(), {layout});
    Numbers first(2), second(0), equal(3, true);
    int token = 0;
    if (rank_of() > 0) MPI_Recv(&token, 1, MPI_INT, rank_of() - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    auto one = first.start(communicator, text), other = second.start(communicator, text);
    auto third = communicator.start_alltoall(equal.out.data(), 3, MPI_INT, equal.in.data(), 3, MPI_INT, {text, {}});
    if (rank_of() + 1 < size_of()) MPI_Send(&token, 1, MPI_INT, rank_of() + 1, 0, MPI_COMM_WORLD);
    EXPECT_EQ(one.strategy(), text);
    EXPECT_EQ(one.explanation(), text + ": it was named by the caller.\n");
    EXPECT_FALSE(one.predicted_seconds());
    // In another order on every second rank, by turns and by waiting.
    if (rank_of() % 2 == 0) {
      one.wait();
      third.wait();
      other.wait();
    } else {
      other.wait();
      while (!one.test()) continue;
      third.wait();
      third.wait();  // returns at once
    }
    EXPECT_EQ(first.in, first.expected);
    EXPECT_EQ(second.in, second.expected);
    EXPECT_EQ(equal.in, equal.expected);
  }
}

TEST(StartedAlltoallv, RunsDecisionsOfCallsThatWaited) {
  Communicator communicator(MPI_COMM_WORLD, "lassen", {one_node()});
  Numbers numbers(4);
  auto before = numbers.start(communicator);
  EXPECT_EQ(before.strategy(), "standard");
  EXPECT_EQ(before.explanation(), "standard: nothing was decided yet in a call that was waited for.\n");
  before.wait();
  EXPECT_EQ(numbers.in, numbers.expected);

  numbers.run(communicator);
  numbers.run(communicator);  // by the earlier traffic
  const auto chosen = communicator.last_alltoallv_strategy();
  auto after = numbers.start(communicator);
  EXPECT_EQ(after.strategy(), chosen);
  EXPECT_TRUE(after.predicted_seconds());
  after.wait();
  EXPECT_EQ(communicator.last_alltoallv_strategy(), chosen);
  EXPECT_EQ(numbers.in, numbers.expected);
}

TEST(StartedAlltoallv, IsCompletedWhenItIsDestroyedAlsoAfterItsCommunicator) {
  Numbers numbers(5);
  {
    std::optional<StartedAlltoallv> outliving;
    {
      Communicator communicator(MPI_COMM_WORLD, some_machine(), {one_node()});
      outliving.emplace(numbers.start(communicator, "stfw,dims=2x2x2x2"));
    }
    EXPECT_EQ(outliving->strategy(), "stfw,dims=2x2x2x2");
  }
  EXPECT_EQ(numbers.in, numbers.expected);
}

// Handles of other kinds go in different orders, and communicators are freed in the same one all the same.
TEST(StartedAlltoallv, MayOutliveItsCommunicatorTogetherWithOthers) {
  for (int turn = 0; turn < 3; ++turn) {
    Numbers numbers(3);
    std::optional<StartedAlltoallv> all;
    std::optional<SparseExchange> sparse;
    {
      Communicator communicator(MPI_COMM_WORLD, some_machine(), {one_node()});
      all.emplace(numbers.start(communicator, "standard"));
      sparse.emplace(communicator.start_sparse_alltoallv(nullptr, {}, {"direct+nbx"}));
    }
    if (rank_of() % 2 == 0) {
      all.reset();
      sparse.reset();
    } else {
      sparse.reset();
      all.reset();
    }
    EXPECT_EQ(numbers.in, numbers.expected);
  }
}

TEST(StartedAlltoallv, InPlaceAndWithATypeForEachRank) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {one_node()});
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);  // two ints with one between, which stays
  MPI_Type_commit(&gaps);
  const auto ranks = static_cast<std::size_t>(size_of());
  constexpr int stride = 4;
  for (const char* text : {"standard", "mpi", "stfw,dims=2x2x2x2"})
    for (const bool in_place : {false, true}) {
      SCOPED_TRACE(std::string(text) + (in_place ? " in place" : ""));
      std::vector<int> sent(stride * ranks), received(stride * ranks, -7), expected(stride * ranks, -7);
      const std::vector<int> counts(ranks, 1);
      const std::vector<MPI_Datatype> types(ranks, gaps);
      std::vector<int> at;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        at.push_back(static_cast<int>(stride * rank * sizeof(int)));
        for (const std::size_t i : {0U, 2U}) {
          sent[stride * rank + i] = 100 * rank_of() + static_cast<int>(rank) + 1000 * static_cast<int>(i);
          expected[stride * rank + i] = 100 * static_cast<int>(rank) + rank_of() + 1000 * static_cast<int>(i);
        }
      }
      if (in_place)
        for (std::size_t rank = 0; rank < ranks; ++rank)
          for (const std::size_t i : {0U, 2U}) received[stride * rank + i] = sent[stride * rank + i];
      auto exchange = communicator.start_alltoallw(in_place ? MPI_IN_PLACE : sent.data(), counts, at, types,
                                                   received.data(), counts, at, types, {text, {}});
      exchange.wait();
      EXPECT_EQ(received, expected);
    }
  MPI_Type_free(&gaps);
}

TEST(StartedAlltoallv, RefusesWrongArgumentsBeforeItStarts) {
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {one_node()});
  Numbers numbers(2);
  auto wrong = numbers;
  wrong.send_counts[0] = -1;
  EXPECT_THROW(wrong.start(communicator), InputError);
  EXPECT_NE(test::common_error([&] { numbers.start(communicator, "no-such-strategy"); }), "");
  EXPECT_NE(test::common_error([&] { numbers.start(communicator, "three-step"); }), "") << "it needs the pattern";
  numbers.start(communicator).wait();
  EXPECT_EQ(numbers.in, numbers.expected);
}

TEST(StartedAlltoallv, NamesMissingBlocksOnce) {
  if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {one_node()});
  Numbers numbers(2);
  if (rank_of() == 0) numbers.send_counts[1] -= 1;
  auto exchange = numbers.start(communicator, "standard");
  if (rank_of() == 1) {
    EXPECT_THROW(exchange.wait(), InputError);
    EXPECT_NO_THROW(exchange.wait());
  } else {
    EXPECT_NO_THROW(exchange.wait());
  }
  Numbers again(3);
  again.start(communicator, "standard").wait();
  EXPECT_EQ(again.in, again.expected);
}

}  // namespace
}  // namespace commpass
