// Sums of the way back of indexed exchanges against sums of all ranks' values, calculated on each rank.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "runtime/communicator.hpp"
#include "runtime/indexed/scenario.hpp"
#include "runtime/indexed/sums.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::bits_of;
using test::for_each_way_of_adding;
using test::ghost_number;
using test::numbers_of;
using test::random_scenario;
using test::rank_of;
using test::rough_numbers;
using test::Scenario;
using test::size_of;
using test::some_machine;
using test::summing_strategies;
using test::sums_in_order;
using test::values_of;

class ReverseAdd : public testing::TestWithParam<unsigned> {
 protected:
  const unsigned seed_ = GetParam() + 1200 * static_cast<unsigned>(size_of());
  const Scenario scenario_ = random_scenario(size_of(), seed_);
  const Layout layout_ = test::random_layout(size_of(), seed_);
  Communicator communicator_{MPI_COMM_WORLD, some_machine(), {layout_}};

  IndexedExchange plan(Bytes value_bytes, IndexedOptions options) {
    options.reverse = true;
    return communicator_.indexed_exchange(scenario_.owned_by(rank_of()), scenario_.needed_here(), value_bytes, options);
  }
};

/// What a rank gives to two additions, and what its values are then.
template <class Number>
struct TwoAdditions {
  std::vector<Number> ghosts, owned, wanted;
};

template <class Number>
TwoAdditions<Number> two_additions(const Scenario& scenario, std::size_t components) {
  std::map<Index, std::vector<Number>> expected;
  for (std::size_t rank = 0; rank < scenario.needed.size(); ++rank)
    for (std::size_t i = 0; i < scenario.needed[rank].size(); ++i) {
      auto& sums = expected[scenario.needed[rank][i]];
      sums.resize(components);
      for (std::size_t c = 0; c < components; ++c)
        sums[c] = static_cast<Number>(sums[c] + ghost_number<Number>(static_cast<Rank>(rank), i, c));
    }
  TwoAdditions<Number> result;
  for (std::size_t i = 0; i < scenario.needed_here().size(); ++i)
    for (std::size_t c = 0; c < components; ++c) result.ghosts.push_back(ghost_number<Number>(rank_of(), i, c));
  for (const Index index : scenario.owned_here())
    for (std::size_t c = 0; c < components; ++c) {
      result.owned.push_back(static_cast<Number>(index % 100));
      const Number added = expected.contains(index) ? expected[index][c] : Number{0};
      result.wanted.push_back(static_cast<Number>(result.owned.back() + added + added));
    }
  return result;
}

/// The exchange is of these numbers.
template <class Number>
void check_sums(IndexedExchange& exchange, const TwoAdditions<Number>& numbers) {
  auto owned = numbers.owned;
  exchange.reverse_add(numbers.ghosts.data(), owned.data());
  exchange.start_reverse_add(numbers.ghosts.data(), owned.data());
  while (!exchange.test()) std::this_thread::yield();
  EXPECT_EQ(owned, numbers.wanted);
}

TEST_P(ReverseAdd, AddsEveryGhostValueToItsOwner) {
  const auto doubles = two_additions<double>(scenario_, 3);
  const auto int64s = two_additions<std::int64_t>(scenario_, 3);
  const auto floats = two_additions<float>(scenario_, 1);
  const auto uint16s = two_additions<std::uint16_t>(scenario_, 2);
  const auto chars = two_additions<signed char>(scenario_, 1);
  for_each_way_of_adding(layout_, seed_, [&](const IndexedOptions& options) {
    auto of_24_bytes = plan(24, options), of_4_bytes = plan(4, options), of_a_byte = plan(1, options);
    EXPECT_TRUE(options.share != false || !of_24_bytes.adds_on_the_way());
    check_sums(of_24_bytes, doubles);
    check_sums(of_24_bytes, int64s);
    check_sums(of_4_bytes, floats);
    check_sums(of_4_bytes, uint16s);
    check_sums(of_a_byte, chars);
  });
}

TEST_P(ReverseAdd, CombinesGhostValuesByAnAdditionOfTheUsers) {
  constexpr Bytes value_bytes = 3;
  const auto exclusive_or = [](const void* values, void* sums, std::int64_t count) {
    for (std::int64_t i = 0; i < count * value_bytes; ++i)
      static_cast<std::byte*>(sums)[i] ^= static_cast<const std::byte*>(values)[i];
  };
  std::map<Index, int> needers;
  for (const auto& list : scenario_.needed)
    for (const Index index : list) ++needers[index];
  auto wanted = values_of(scenario_.owned_here(), value_bytes, 0);
  const auto added = values_of(scenario_.owned_here(), value_bytes, 1);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (needers[scenario_.owned_here()[i / value_bytes]] % 2 == 1) wanted[i] ^= added[i];
  const auto ghosts = values_of(scenario_.needed_here(), value_bytes, 1);
  for (const auto& strategy : summing_strategies(layout_)) {
    SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_));
    auto exchange = plan(value_bytes, {.strategy = strategy, .share = true});
    auto owned = values_of(scenario_.owned_here(), value_bytes, 0);
    exchange.reverse_add(ghosts.data(), owned.data(), exclusive_or);
    EXPECT_EQ(owned, wanted);
  }
}

TEST_P(ReverseAdd, IsDeterministicOnRequestWhateverTheStrategy) {
  const auto wanted = sums_in_order(scenario_, numbers_of(scenario_.owned_here()), seed_);
  const auto ghosts = rough_numbers(rank_of(), scenario_.needed_here().size(), seed_);
  for (const auto& strategy : summing_strategies(layout_)) {
    SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_));
    auto exchange = plan(sizeof(double), {.strategy = strategy, .share = true, .deterministic = true});
    EXPECT_FALSE(exchange.adds_on_the_way());
    auto owned = numbers_of(scenario_.owned_here());
    exchange.reverse_add(ghosts.data(), owned.data());
    EXPECT_EQ(bits_of(owned), bits_of(wanted));
  }
}

TEST_P(ReverseAdd, GivesTheSameBitsEveryTimeAndRightSums) {
  const auto ghosts = rough_numbers(rank_of(), scenario_.needed_here().size(), seed_);
  std::map<Index, std::pair<long double, long double>> exact;  // and the sum of magnitudes
  for (Rank rank = 0; rank < size_of(); ++rank) {
    const auto& needed = scenario_.needed[static_cast<std::size_t>(rank)];
    const auto numbers = rough_numbers(rank, needed.size(), seed_);
    for (std::size_t i = 0; i < needed.size(); ++i) {
      exact[needed[i]].first += numbers[i];
      exact[needed[i]].second += std::abs(numbers[i]);
    }
  }
  for (const auto& strategy : summing_strategies(layout_)) {
    SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_));
    std::vector<std::uint64_t> first;
    for (int planned = 0; planned < 2; ++planned) {
      auto exchange = plan(sizeof(double), {.strategy = strategy, .share = true});
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<double> owned(scenario_.owned_here().size(), 0);
        exchange.reverse_add(ghosts.data(), owned.data());
        if (first.empty()) first = bits_of(owned);
        EXPECT_EQ(bits_of(owned), first);
        for (std::size_t i = 0; i < owned.size(); ++i) {
          const auto [sum, magnitude] = exact[scenario_.owned_here()[i]];
          EXPECT_NEAR(owned[i], static_cast<double>(sum), 1e-13 * static_cast<double>(magnitude));
        }
      }
    }
  }
}

// A way back whose values are added on the way keeps its strategy; others may try some.
TEST_P(ReverseAdd, GivesTheSameBitsWhileStrategiesAreTried) {
  if (rank_of() == 0) setenv("COMMPASS_PLANNER", "adaptive", 1);
  Communicator tries(MPI_COMM_WORLD, some_machine(), {layout_});
  unsetenv("COMMPASS_PLANNER");
  const auto ghosts = rough_numbers(rank_of(), scenario_.needed_here().size(), seed_);
  for (const bool is_shared : {true, false}) {
    IndexedOptions options;
    options.reverse = true;
    options.share = is_shared;
    auto exchange =
        tries.indexed_exchange(scenario_.owned_by(rank_of()), scenario_.needed_here(), sizeof(double), options);
    std::vector<double> values(scenario_.owned_here().size(), 1.5), needed(ghosts.size());
    std::vector<std::uint64_t> first;
    bool is_same = true;
    for (int turn = 0; turn < 100; ++turn) {
      exchange.forward(values.data(), needed.data());
      is_same = is_same && std::ranges::all_of(needed, [](double value) { return value == 1.5; });
      std::ranges::fill(needed, 0);
      std::vector<double> owned(values.size(), 0);
      exchange.reverse_add(ghosts.data(), owned.data());
      if (first.empty()) first = bits_of(owned);
      is_same = is_same && bits_of(owned) == first;
    }
    EXPECT_TRUE(test::everywhere(is_same)) << is_shared;
  }
}

TEST_P(ReverseAdd, GivesTheSameBitsBesideOthersInAnyOrder) {
  const auto given = numbers_of(scenario_.owned_here());
  const auto ghosts = rough_numbers(rank_of(), scenario_.needed_here().size(), seed_);
  const auto in_order = bits_of(sums_in_order(scenario_, given, seed_));
  std::vector<IndexedExchange> exchanges;
  std::vector<std::vector<std::uint64_t>> alone;
  for (const auto& strategy : summing_strategies(layout_))
    for (const bool is_deterministic : {false, true}) {
      exchanges.push_back(
          plan(sizeof(double), {.strategy = strategy, .share = true, .deterministic = is_deterministic}));
      auto owned = given;
      exchanges.back().reverse_add(ghosts.data(), owned.data());
      alone.push_back(bits_of(owned));
      EXPECT_TRUE(!is_deterministic || alone.back() == in_order) << strategy;
    }
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<std::vector<double>> owned(exchanges.size(), given);
    std::vector<std::size_t> order(exchanges.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random(seed_ + static_cast<unsigned>(10 * rank_of() + turn));  // another order on each rank
    std::shuffle(order.begin(), order.end(), random);
    for (const auto i : order) exchanges[i].start_reverse_add(ghosts.data(), owned[i].data());
    std::shuffle(order.begin(), order.end(), random);
    for (const auto i : order) exchanges[i].wait();
    for (const auto i : order) EXPECT_EQ(bits_of(owned[i]), alone[i]) << exchanges[i].reverse_strategy();
  }
}

TEST_P(ReverseAdd, IsTheTransposeOfTheWayThere) {
  auto exchange = plan(sizeof(double), {});
  std::mt19937 random(seed_ + static_cast<unsigned>(rank_of()));
  const auto whole_numbers = [&](std::size_t count) {
    std::vector<double> result;
    while (result.size() < count) result.push_back(static_cast<double>(random() % 100));
    return result;
  };
  const auto x = whole_numbers(scenario_.owned_here().size()), y = whole_numbers(scenario_.needed_here().size());
  std::vector<double> there(y.size()), back(x.size());
  exchange.forward(x.data(), there.data());
  exchange.reverse_add(y.data(), back.data());
  std::array<double, 2> products{std::inner_product(there.begin(), there.end(), y.begin(), 0.0),
                                 std::inner_product(x.begin(), x.end(), back.begin(), 0.0)};
  MPI_Allreduce(MPI_IN_PLACE, products.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(products[0], products[1]);
}

void add_doubles(const void* values, void* sums, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) static_cast<double*>(sums)[i] += static_cast<const double*>(values)[i];
}

/// An addition that throws on one rank.
struct Thrower {
  Rank thrower = 0;
  int* calls = nullptr;
  void operator()(const void* values, void* sums, std::int64_t count) const {
    if (rank_of() == thrower) throw std::runtime_error("overflow " + std::to_string(++*calls));
    add_doubles(values, sums, count);
  }
};

// All contributions are there, but those of the additions that throw: other ranks do not wait for them.
TEST_P(ReverseAdd, GoesOnWhereAnAdditionThrows) {
  const std::vector<double> ghosts(scenario_.needed_here().size(), 1);
  std::map<Index, double> needers;
  for (const auto& list : scenario_.needed)
    for (const Index index : list) ++needers[index];
  for (const auto& strategy : summing_strategies(layout_))
    for (const bool is_deterministic : {false, true}) {
      auto exchange = plan(sizeof(double), {.strategy = strategy, .share = true, .deterministic = is_deterministic});
      auto other = plan(sizeof(double), {.strategy = strategy, .share = true});
      for (const Rank thrower : std::set<Rank>{0, size_of() / 2, size_of() - 1}) {
        SCOPED_TRACE(strategy + ", seed " + std::to_string(seed_) + ", rank " + std::to_string(thrower) + " throws");
        std::vector<double> owned(scenario_.owned_here().size(), 0), others(owned.size(), 0);
        other.start_reverse_add(ghosts.data(), others.data());  // is in flight meanwhile
        int calls = 0;
        exchange.start_reverse_add(ghosts.data(), owned.data(), Thrower{thrower, &calls});
        std::string thrown;
        try {
          if (thrower % 2 == 0) exchange.wait();
          else
            while (!exchange.test()) std::this_thread::yield();
        } catch (const std::runtime_error& error) {
          thrown = error.what();
        }
        EXPECT_EQ(thrown, calls > 0 ? "overflow 1" : "");
        exchange.wait();  // it is complete, and throws once
        other.wait();
        for (std::size_t i = 0; i < owned.size(); ++i) {
          const auto sum = needers[scenario_.owned_here()[i]];
          EXPECT_EQ(others[i], sum);
          EXPECT_LE(owned[i], sum);
          EXPECT_TRUE(size_of() > 1 || owned[i] == 0);
        }
        std::ranges::fill(owned, 0);
        exchange.reverse_add(ghosts.data(), owned.data(), add_doubles);
        EXPECT_EQ(owned, others);
      }
    }
}

// Rank 0 owns a value that all need. The others share a node, on which one of them adds what the others contribute.
TEST(ReverseAddThatFails, OnTheWayLeavesOutTheContributionAndThrowsOnThatRankAlone) {
  std::vector<int> nodes(static_cast<std::size_t>(size_of()), 1);
  nodes[0] = 0;
  Communicator communicator(MPI_COMM_WORLD, some_machine(), {Layout(nodes)});
  const std::vector<Index> needed{0};
  const double ghost = 1;
  double sum = 0;
  bool throws = rank_of() != 0, has_thrown = false;
  const auto add = [&](const void* values, void* sums, std::int64_t count) {
    if (throws) throw std::runtime_error("overflow");
    add_doubles(values, sums, count);
  };
  auto exchange = communicator.indexed_exchange(IndexRange{0, rank_of() == 0 ? 1 : 0}, needed, sizeof(double),
                                                {.strategy = "two-step", .reverse = true, .share = true});
  try {
    exchange.reverse_add(&ghost, &sum, add);
  } catch (const std::runtime_error&) {
    has_thrown = true;
  }
  int throwers = has_thrown ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &throwers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(throwers, size_of() > 2 ? 1 : 0);
  EXPECT_FALSE(has_thrown && rank_of() == 0);
  // Its own, and the first of the other node, to which the rest was not added.
  EXPECT_EQ(sum, rank_of() == 0 ? std::min(2, size_of()) : 0);
  sum = 0;
  throws = true;
  exchange.start_reverse_add(&ghost, &sum, add);  // and is destroyed in flight
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReverseAdd, testing::Range(0U, 4U));

}  // namespace
}  // namespace commpass
