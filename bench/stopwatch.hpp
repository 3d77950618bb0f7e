// How long an action takes.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

#include "model/base/types.hpp"

namespace commpass::bench {

/// The wall-clock seconds of an action.
template <class Action>
Seconds seconds_of(Action action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<Seconds>(std::chrono::steady_clock::now() - begin).count();
}

/// The seconds of all processors that an action of this process takes, whatever else the machine does.
template <class Action>
Seconds processor_seconds_of(Action action) {
  const auto begin = std::clock();
  action();
  return static_cast<Seconds>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// The least of some repetitions: what the machine does besides only makes them longer.
template <class Action>
Seconds least_seconds_of(int repetitions, Action action) {
  Seconds least = seconds_of(action);
  for (int i = 1; i < repetitions; ++i) least = std::min(least, seconds_of(action));
  return least;
}

}  // namespace commpass::bench
