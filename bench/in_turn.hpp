// Alternatives, measured in turn.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <random>

namespace commpass::bench {

/// Each once in a round, in random order, the same on all ranks, so that a disturbance hits all alike.
template <class... Run>
void run_in_turn(int rounds, const Run&... run) {
  const std::array<std::function<void()>, sizeof...(Run)> runs{std::cref(run)...};
  std::array<std::size_t, sizeof...(Run)> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(1);
  for (int i = 0; i < rounds; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    for (const auto number : order) runs[number]();
  }
}

}  // namespace commpass::bench
