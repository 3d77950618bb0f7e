#include "doctor/host.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

namespace commpass {

namespace {

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The compiler cannot leave it out, nor calculate it at once.
Seconds time_piece(int steps) {
  volatile std::uint64_t state = 1;
  const auto begin = Clock::now();
  for (int i = 0; i < steps; ++i) state = state * 6364136223846793005U + 1442695040888963407U;
  return since(begin);
}

int steps_in(Seconds piece) {
  constexpr int trial = 10000, trials = 20;
  Seconds least = std::numeric_limits<Seconds>::infinity();
  for (int i = 0; i < trials; ++i) least = std::min(least, time_piece(trial));
  return std::max(1, static_cast<int>(piece / least * trial));
}

}  // namespace

Noise measure_noise(Seconds duration) {
  constexpr Seconds piece = 20e-6;
  const int steps = steps_in(piece);
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(2 * duration / piece) + 1);
  for (const auto begin = Clock::now(); times.empty() || since(begin) < duration;) times.push_back(time_piece(steps));
  std::ranges::sort(times);
  const auto quick = times[times.size() / 10];
  Seconds all = 0;
  for (const auto time : times) all += time;
  const auto undisturbed = static_cast<double>(times.size()) * quick;
  return {std::max(0.0, 1 - undisturbed / all), times.back() - quick};
}

Seconds clock_resolution() {
  constexpr int readings = 100;
  Seconds least = std::numeric_limits<Seconds>::infinity();
  for (int i = 0; i < readings; ++i) {
    const auto begin = Clock::now();
    Seconds step = 0;
    while (step <= 0) step = since(begin);
    least = std::min(least, step);
  }
  return least;
}

}  // namespace commpass
