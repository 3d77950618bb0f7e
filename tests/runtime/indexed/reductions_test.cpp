// Reductions among neighbours and of sparse vectors against sums of all ranks' values, calculated on each rank.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/communicator.hpp"
#include "runtime/indexed/scenario.hpp"
#include "runtime/indexed/sums.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::bits_of;
using test::common_error;
using test::for_each_way_of_adding;
using test::ghost_number;
using test::random_scenario;
using test::rank_of;
using test::rough_numbers;
using test::Scenario;
using test::size_of;
using test::some_machine;
using test::summing_strategies;

/// The contributions of all ranks, known to all: some ranks have none, some several for one rank or for themselves, and
/// some results are empty.
struct Contributions {
  std::vector<std::int64_t> result_values;               ///< by rank
  std::vector<std::vector<Contribution>> contributions;  ///< by rank
};

Contributions random_neighbors(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  Contributions all;
  for (Rank rank = 0; rank < ranks; ++rank) all.result_values.push_back(below(4) == 0 ? 0 : below(40));
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto& its = all.contributions.emplace_back();
    for (int count = below(4) == 0 ? 0 : below(2 * ranks + 2); count > 0; --count) {
      const Rank destination = below(ranks);
      its.push_back({destination, all.result_values[static_cast<std::size_t>(destination)]});
    }
  }
  return all;
}

/// What a rank contributes, and the sums that it gets.
template <class Number>
struct Sums {
  std::vector<Number> contributions, wanted;
};

/// Calls use(destination, position in the result, position in the contributions) for each value of a rank.
template <class Use>
void for_each_value(const std::vector<Contribution>& contributions, Use use) {
  std::size_t at = 0;
  for (const auto& [destination, values] : contributions)
    for (std::int64_t i = 0; i < values; ++i) use(destination, static_cast<std::size_t>(i), at++);
}

class NeighborReduceScatter : public testing::TestWithParam<unsigned> {
 protected:
  const unsigned seed_ = GetParam() + 1200 * static_cast<unsigned>(size_of());
  const Contributions all_ = random_neighbors(size_of(), seed_);
  const std::vector<Contribution>& mine_ = all_.contributions[static_cast<std::size_t>(rank_of())];
  const std::size_t result_values_ = static_cast<std::size_t>(all_.result_values[static_cast<std::size_t>(rank_of())]);
  const Layout layout_ = test::random_layout(size_of(), seed_);
  Communicator communicator_{MPI_COMM_WORLD, some_machine(), {layout_}};

  IndexedExchange plan(Bytes value_bytes, const IndexedOptions& options) {
    return communicator_.neighbor_reduce_scatter(mine_, static_cast<std::int64_t>(result_values_), value_bytes,
                                                 options);
  }

  template <class Number>
  std::vector<Number> contributed(Rank rank, std::size_t components) const {
    std::vector<Number> result;
    for_each_value(all_.contributions[static_cast<std::size_t>(rank)], [&](Rank, std::size_t, std::size_t at) {
      for (std::size_t c = 0; c < components; ++c) result.push_back(ghost_number<Number>(rank, at, c));
    });
    return result;
  }

  /// Combines what all ranks contribute, in any order.
  template <class Number, class Combine>
  std::vector<Number> expected(std::size_t components, Number untouched, Combine combine) const {
    std::vector<std::optional<Number>> found(result_values_ * components);
    for (Rank rank = 0; rank < size_of(); ++rank) {
      const auto given = contributed<Number>(rank, components);
      for_each_value(all_.contributions[static_cast<std::size_t>(rank)],
                     [&](Rank destination, std::size_t i, std::size_t at) {
                       if (destination != rank_of()) return;
                       for (std::size_t c = 0; c < components; ++c) {
                         auto& sum = found[i * components + c];
                         const Number value = given[at * components + c];
                         sum = sum ? combine(*sum, value) : value;
                       }
                     });
    }
    std::vector<Number> result;
    for (const auto& sum : found) result.push_back(sum.value_or(untouched));
    return result;
  }

  template <class Number>
  Sums<Number> sums(std::size_t components) const {
    return {contributed<Number>(rank_of(), components),
            expected<Number>(components, Number{77}, [](Number a, Number b) { return static_cast<Number>(a + b); })};
  }

  template <class Number>
  static void check_sums(IndexedExchange& exchange, const Sums<Number>& sums) {
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<Number> result(sums.wanted.size(), Number{77});
      if (turn == 0) exchange.reverse_add(sums.contributions.data(), result.data());
      else {
        exchange.start_reverse_add(sums.contributions.data(), result.data());
        while (!exchange.test()) std::this_thread::yield();
      }
      EXPECT_EQ(result, sums.wanted);
    }
  }
};

TEST_P(NeighborReduceScatter, SumsTheContributionsOfAllNeighbors) {
  const auto doubles = sums<double>(3);
  const auto int64s = sums<std::int64_t>(3);
  const auto floats = sums<float>(1);
  const auto uint16s = sums<std::uint16_t>(2);
  const auto chars = sums<signed char>(1);
  for_each_way_of_adding(layout_, seed_, [&](const IndexedOptions& options) {
    auto of_24_bytes = plan(24, options), of_4_bytes = plan(4, options), of_a_byte = plan(1, options);
    check_sums(of_24_bytes, doubles);
    check_sums(of_24_bytes, int64s);
    check_sums(of_4_bytes, floats);
    check_sums(of_4_bytes, uint16s);
    check_sums(of_a_byte, chars);
  });
}

TEST_P(NeighborReduceScatter, CombinesByAnOperationWithoutNeutralElement) {
  constexpr int untouched = 1000;
  const auto wanted = expected<int>(1, untouched, [](int a, int b) { return std::min(a, b); });
  const auto minimum = [](const void* values, void* results, std::int64_t count) {
    const auto* from = static_cast<const int*>(values);
    auto* to = static_cast<int*>(results);
    for (std::int64_t i = 0; i < count; ++i) to[i] = std::min(to[i], from[i]);
  };
  const auto contributions = contributed<int>(rank_of(), 1);
  for (const auto& strategy : summing_strategies(layout_)) {
    SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_));
    auto exchange = plan(sizeof(int), {.strategy = strategy, .share = true});
    std::vector<int> result(result_values_, untouched);
    exchange.reverse_add(contributions.data(), result.data(), minimum);
    EXPECT_EQ(result, wanted);
  }
}

TEST_P(NeighborReduceScatter, IsDeterministicOnRequest) {
  // The rank's own contributions one after another, then the sum of each other rank, in the order of ranks.
  std::vector<std::map<Rank, double>> of(result_values_);
  for (Rank rank = 0; rank < size_of(); ++rank) {
    const auto& its = all_.contributions[static_cast<std::size_t>(rank)];
    std::size_t count = 0;
    for_each_value(its, [&](Rank, std::size_t, std::size_t) { ++count; });
    const auto numbers = rough_numbers(rank, count, seed_);
    for_each_value(its, [&](Rank destination, std::size_t i, std::size_t at) {
      if (destination != rank_of()) return;
      const Rank order = rank == rank_of() ? -1 : rank;
      if (const auto [sum, is_first] = of[i].try_emplace(order, numbers[at]); !is_first) sum->second += numbers[at];
    });
  }
  std::vector<double> wanted;
  for (const auto& sums : of) {
    auto& sum = wanted.emplace_back(3);
    bool is_first = true;
    for (const auto& [rank, value] : sums) sum = std::exchange(is_first, false) ? value : sum + value;
  }
  const auto contributions = rough_numbers(rank_of(), contributed<double>(rank_of(), 1).size(), seed_);
  for (const auto& strategy : summing_strategies(layout_)) {
    SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_));
    auto exchange = plan(sizeof(double), {.strategy = strategy, .share = true, .deterministic = true});
    std::vector<double> result(result_values_, 3);
    exchange.reverse_add(contributions.data(), result.data());
    EXPECT_EQ(bits_of(result), bits_of(wanted));
  }
}

TEST_P(NeighborReduceScatter, PlansOneDirectionAlone) {
  auto exchange = plan(sizeof(double), {.strategy = "standard"});
  EXPECT_EQ(exchange.strategy(), "standard");
  EXPECT_EQ(exchange.reverse_strategy(), "standard");
  EXPECT_THROW(exchange.forward(nullptr, nullptr), Error);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NeighborReduceScatter, testing::Range(0U, 4U));

TEST(NeighborReduceScatter, RefusesOtherSizesThanThatOfTheResult) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const Rank last = size_of() - 1;
  const auto error_of = [&](const std::vector<Contribution>& contributions, std::int64_t values) {
    return common_error([&] { (void)communicator.neighbor_reduce_scatter(contributions, values, 8); });
  };
  const bool is_first = rank_of() == 0;
  EXPECT_EQ(error_of(is_first ? std::vector<Contribution>{{last, 5}} : std::vector<Contribution>{}, 4),
            "rank " + std::to_string(last) +
                ": neighbor_reduce_scatter: rank 0 contributes 5 values to a result of 4; give as many as it has.");
  EXPECT_EQ(error_of(is_first ? std::vector<Contribution>{{last, 4}, {last, 3}} : std::vector<Contribution>{}, 4),
            "rank 0: neighbor_reduce_scatter: contributions to rank " + std::to_string(last) +
                " have 4 and 3 values; give as many as its result has.");
  EXPECT_EQ(error_of({{size_of(), 4}}, 4), "rank 0: neighbor_reduce_scatter: a contribution is for rank " +
                                               std::to_string(size_of()) + " of " + std::to_string(size_of()) +
                                               "; use 0 … " + std::to_string(last) + ".");
  EXPECT_EQ(error_of({{0, -1}}, 4),
            "rank 0: neighbor_reduce_scatter: a contribution to rank 0 has -1 values; use 0 or more.");
  EXPECT_EQ(error_of({}, is_first ? -1 : 4),
            "rank 0: neighbor_reduce_scatter: the result has -1 values; use 0 or more.");
}

class SparseAllreduces : public testing::TestWithParam<unsigned> {
 protected:
  const unsigned seed_ = GetParam() + 1200 * static_cast<unsigned>(size_of());
  const std::vector<std::vector<Index>> indices_ = random_scenario(size_of(), seed_).needed;
  const std::vector<Index>& mine_ = indices_[static_cast<std::size_t>(rank_of())];
  const Layout layout_ = test::random_layout(size_of(), seed_);
  Communicator communicator_{MPI_COMM_WORLD, some_machine(), {layout_}};

  template <class Number>
  std::vector<Number> values_of(Rank rank, std::size_t components) const {
    std::vector<Number> result;
    for (std::size_t i = 0; i < indices_[static_cast<std::size_t>(rank)].size(); ++i)
      for (std::size_t c = 0; c < components; ++c) result.push_back(ghost_number<Number>(rank, i, c));
    return result;
  }

  template <class Number, class Combine>
  std::vector<Number> expected(std::size_t components, Combine combine) const {
    std::map<Index, std::vector<Number>> all;
    for (Rank rank = 0; rank < size_of(); ++rank) {
      const auto values = values_of<Number>(rank, components);
      const auto& its = indices_[static_cast<std::size_t>(rank)];
      for (std::size_t i = 0; i < its.size(); ++i) {
        const std::vector<Number> value(values.begin() + static_cast<std::ptrdiff_t>(i * components),
                                        values.begin() + static_cast<std::ptrdiff_t>((i + 1) * components));
        const auto [sums, is_first] = all.try_emplace(its[i], value);
        if (is_first) continue;
        for (std::size_t c = 0; c < components; ++c) sums->second[c] = combine(sums->second[c], value[c]);
      }
    }
    std::vector<Number> result;
    for (const Index index : mine_) result.insert(result.end(), all[index].begin(), all[index].end());
    return result;
  }

  template <class Number>
  Sums<Number> sums(std::size_t components) const {
    return {values_of<Number>(rank_of(), components),
            expected<Number>(components, [](Number a, Number b) { return static_cast<Number>(a + b); })};
  }

  template <class Number>
  static void check_sums(SparseAllreduce& allreduce, const Sums<Number>& sums) {
    std::vector<Number> values(sums.wanted.size());
    allreduce.run(sums.contributions.data(), values.data());
    EXPECT_EQ(values, sums.wanted);
    values = sums.contributions;
    allreduce.start(values.data(), values.data());
    while (!allreduce.test()) std::this_thread::yield();
    EXPECT_EQ(values, sums.wanted);
  }
};

TEST_P(SparseAllreduces, GiveEachRankTheSumsAtItsIndices) {
  const auto doubles = sums<double>(3);
  const auto uint64s = sums<std::uint64_t>(3);
  const auto floats = sums<float>(1);
  const auto int16s = sums<std::int16_t>(2);
  for_each_way_of_adding(layout_, seed_, [&](const IndexedOptions& options) {
    auto of_24_bytes = communicator_.sparse_allreduce(mine_, 24, options);
    auto of_4_bytes = communicator_.sparse_allreduce(mine_, 4, options);
    EXPECT_TRUE(options.share != false || !of_24_bytes.adds_on_the_way());
    check_sums(of_24_bytes, doubles);
    check_sums(of_24_bytes, uint64s);
    check_sums(of_4_bytes, floats);
    check_sums(of_4_bytes, int16s);
  });
}

TEST_P(SparseAllreduces, CombineByAnOperationOfTheUsers) {
  const auto wanted = expected<int>(1, [](int a, int b) { return std::max(a, b); });
  const auto maximum = [](const void* values, void* results, std::int64_t count) {
    const auto* from = static_cast<const int*>(values);
    auto* to = static_cast<int*>(results);
    for (std::int64_t i = 0; i < count; ++i) to[i] = std::max(to[i], from[i]);
  };
  const auto values = values_of<int>(rank_of(), 1);
  for (const auto& strategy : summing_strategies(layout_)) {
    SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_));
    auto allreduce = communicator_.sparse_allreduce(mine_, sizeof(int), {.strategy = strategy});
    std::vector<int> results(values.size());
    allreduce.run(values.data(), results.data(), maximum);
    EXPECT_EQ(results, wanted);
  }
}

TEST_P(SparseAllreduces, AreTheSameBitsOnAllRanksAndInTheOrderOfRanksOnRequest) {
  std::map<Index, std::map<Rank, double>> of;
  for (Rank rank = 0; rank < size_of(); ++rank) {
    const auto& its = indices_[static_cast<std::size_t>(rank)];
    const auto numbers = rough_numbers(rank, its.size(), seed_);
    for (std::size_t i = 0; i < its.size(); ++i)
      if (const auto [sum, is_first] = of[its[i]].try_emplace(rank, numbers[i]); !is_first) sum->second += numbers[i];
  }
  std::vector<double> wanted;
  for (const Index index : mine_) {
    const auto& sums = of[index];
    wanted.push_back(std::accumulate(std::next(sums.begin()), sums.end(), sums.begin()->second,
                                     [](double sum, const auto& one) { return sum + one.second; }));
  }
  const auto values = rough_numbers(rank_of(), mine_.size(), seed_);
  for (const auto& strategy : summing_strategies(layout_)) {
    SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_));
    auto ordered = communicator_.sparse_allreduce(mine_, sizeof(double),
                                                  {.strategy = strategy, .share = true, .deterministic = true});
    std::vector<double> sums(values.size());
    ordered.run(values.data(), sums.data());
    EXPECT_EQ(bits_of(sums), bits_of(wanted));
  }
}

// The sums leave when the contributions have come: also while a rank waits for another exchange.
TEST_P(SparseAllreduces, RunBesideOthersInAnyOrder) {
  std::vector<SparseAllreduce> allreduces;
  for (const auto& strategy : summing_strategies(layout_))
    for (const bool is_deterministic : {false, true})
      allreduces.push_back(communicator_.sparse_allreduce(
          mine_, sizeof(std::int64_t), {.strategy = strategy, .share = true, .deterministic = is_deterministic}));
  const auto values = values_of<std::int64_t>(rank_of(), 1);
  const auto wanted = expected<std::int64_t>(1, [](std::int64_t a, std::int64_t b) { return a + b; });
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<std::vector<std::int64_t>> sums(allreduces.size(), std::vector<std::int64_t>(values.size()));
    std::vector<std::size_t> order(allreduces.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(seed_ + static_cast<unsigned>(10 * rank_of() + turn));  // another order on each rank
    std::shuffle(order.begin(), order.end(), random);
    for (const auto i : order) allreduces[i].start(values.data(), sums[i].data());
    std::shuffle(order.begin(), order.end(), random);
    for (const auto i : order) {
      if (i % 2 == 0) allreduces[i].wait();
      else
        while (!allreduces[i].test()) std::this_thread::yield();
    }
    for (const auto& found : sums) EXPECT_EQ(found, wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SparseAllreduces, testing::Range(0U, 4U));

TEST(SparseAllreduce, MovesOutlivesItsCommunicatorAndMayBeDroppedInFlight) {
  auto allreduce = [] {
    Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
    return communicator.sparse_allreduce(std::array<Index, 2>{7, 9}, sizeof(double), {.strategy = "two-step"});
  }();
  const std::array<double, 2> values{1, 2};
  std::array<double, 2> sums{}, more{};
  auto moved = std::move(allreduce);
  moved.start(values.data(), sums.data());
  EXPECT_THROW(moved.start(values.data(), more.data()), Error);
  moved.wait();
  EXPECT_EQ(sums, (std::array<double, 2>{1.0 * size_of(), 2.0 * size_of()}));
  EXPECT_TRUE(moved.test());
  moved.start(values.data(), more.data());  // and is destroyed in flight
}

// The lowest rank adds, and sends the sums on before it throws.
TEST(SparseAllreduce, IsCompleteOnAllRanksWhereAnAdditionThrows) {
  for (const std::string strategy : {"standard", "two-step"}) {
    SCOPED_TRACE(strategy);
    Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout::with_ppn(size_of(), 2)});
    auto allreduce =
        communicator.sparse_allreduce(std::array<Index, 1>{7}, sizeof(double), {.strategy = strategy, .share = false});
    const double value = 1;
    for (const bool throws : {true, false, true}) {
      double sum = 0;
      const auto add = [&](const void* values, void* sums, std::int64_t) {
        if (throws && rank_of() == 0) throw std::runtime_error("overflow");
        *static_cast<double*>(sums) += *static_cast<const double*>(values);
      };
      bool has_thrown = false;
      allreduce.start(&value, &sum, add);
      try {
        if (strategy == "standard") allreduce.wait();
        else
          while (!allreduce.test()) std::this_thread::yield();
      } catch (const std::runtime_error&) {
        has_thrown = true;
      }
      EXPECT_EQ(has_thrown, throws && rank_of() == 0 && size_of() > 1);
      EXPECT_EQ(sum, throws ? 1 : size_of());
      EXPECT_TRUE(allreduce.test());
    }
  }
}

TEST(SparseAllreduce, RefusesNegativeIndicesAndValuesThatAreNoNumbers) {
  Communicator communicator(MPI_COMM_WORLD, some_machine());
  const std::vector<Index> wrong{rank_of() == 0 ? Index{-3} : Index{3}};
  EXPECT_EQ(common_error([&] { (void)communicator.sparse_allreduce(wrong, 8); }),
            "rank 0: sparse_allreduce, index -3: it is negative; use 0 or more.");
  auto allreduce = communicator.sparse_allreduce(std::array<Index, 1>{3}, 6);
  double value = 0, sum = 0;
  EXPECT_THROW(allreduce.start(&value, &sum), InputError);
}

}  // namespace
}  // namespace commpass
