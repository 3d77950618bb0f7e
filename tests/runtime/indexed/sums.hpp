// Strategies and numbers of tests that add values up.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "model/route/catalogue.hpp"
#include "runtime/indexed/indexed_exchange.hpp"
#include "runtime/indexed/scenario.hpp"
#include "runtime/world.hpp"

namespace commpass::test {

// Those with relays cut blocks between two nodes, here into pieces of about a value and of a few.
inline const std::array<std::string, 15> names_of_summing_strategies{"standard",
                                                                     "mpi",
                                                                     "standard,window=1",
                                                                     "two-step",
                                                                     "two-step,staggered",
                                                                     "two-step,shared",
                                                                     "three-step",
                                                                     "three-step,shared",
                                                                     "split,cap=7",
                                                                     "split,cap=100,staggered",
                                                                     "split,cap=50,shared",
                                                                     "stfw,dims=3x2x5x7",
                                                                     "stfw,n=2,shared",
                                                                     "tuna,radix=2",
                                                                     ""};

inline std::vector<std::string> summing_strategies(const Layout& layout) {
  std::vector<std::string> result(names_of_summing_strategies.begin(), names_of_summing_strategies.end());
  std::erase_if(result, [&](const std::string& name) {
    if (name.empty()) return false;
    const auto strategy = parse_strategy(name);
    return !catalogue_row(strategy.route).inapplicable(strategy, layout).empty();
  });
  return result;
}

/// Calls check(options) for each strategy, with contributions added by owners and where they meet; for the choice, as
/// it likes, and where they meet.
template <class Check>
void for_each_way_of_adding(const Layout& layout, unsigned seed, Check check) {
  for (const auto& strategy : summing_strategies(layout))
    for (const auto share : {strategy.empty() ? std::optional<bool>() : std::optional(false), std::optional(true)}) {
      SCOPED_TRACE(strategy + ", seed " + std::to_string(seed));
      check(IndexedOptions{.strategy = strategy, .share = share});
    }
}

/// Whole numbers, so that sums are exact in any order.
template <class Number>
Number ghost_number(Rank rank, std::size_t position, std::size_t component) {
  return static_cast<Number>((static_cast<std::size_t>(rank) * 7 + position * 3 + component) % 23) -
         static_cast<Number>(11);
}

/// Numbers whose sums depend on their order.
inline std::vector<double> rough_numbers(Rank rank, std::size_t count, unsigned seed) {
  std::mt19937 random(seed * 97 + static_cast<unsigned>(rank));
  std::vector<double> result;
  while (result.size() < count)
    result.push_back(std::ldexp(static_cast<double>(random()) - 2e9, static_cast<int>(random() % 40)));
  return result;
}

inline std::vector<std::uint64_t> bits_of(const std::vector<double>& numbers) {
  std::vector<std::uint64_t> bits(numbers.size());
  if (!bits.empty()) std::memcpy(bits.data(), numbers.data(), numbers.size() * sizeof(double));
  return bits;
}

/// Of each owned value, to which all ranks add their rough numbers: its own ghost values one after another, then the
/// sum of each other rank, in the order of ranks.
inline std::vector<double> sums_in_order(const Scenario& scenario, std::vector<double> owned, unsigned seed) {
  std::map<Index, std::size_t> place_of;
  for (const Index index : scenario.owned_here()) place_of.emplace(index, place_of.size());
  std::vector<std::map<Rank, double>> of_others(owned.size());
  for (Rank rank = 0; rank < size_of(); ++rank) {
    const auto& needed = scenario.needed[static_cast<std::size_t>(rank)];
    const auto numbers = rough_numbers(rank, needed.size(), seed);
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const auto place = place_of.find(needed[i]);
      if (place == place_of.end()) continue;
      if (rank == rank_of()) owned[place->second] += numbers[i];
      else if (const auto [sum, is_first] = of_others[place->second].try_emplace(rank, numbers[i]); !is_first)
        sum->second += numbers[i];
    }
  }
  for (std::size_t i = 0; i < owned.size(); ++i)
    for (const auto& [rank, sum] : of_others[i]) owned[i] += sum;
  return owned;
}

/// Numbers that rough ones are added to.
inline std::vector<double> numbers_of(const std::vector<Index>& indices) {
  std::vector<double> result;
  for (const Index index : indices) result.push_back(1.0 / static_cast<double>(index + 3));
  return result;
}

}  // namespace commpass::test
