// Random delays on a simulated cluster. SIMULATED_NOISE is their seed; without it there are none.
//
// A rank's own work and a message each take 1 + 0.05·|z| times as long, z normal: never less than the description says,
// and 4 % more on average. One message in a hundred takes ten times as long. A delay follows from the seed, the time
// and the delayed operation alone, so that a simulation is the same every time.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <numbers>
#include <optional>

namespace simulation {

class Noise {
 public:
  /// @throws std::invalid_argument if SIMULATED_NOISE is no number
  static std::optional<Noise> from_environment() {
    const char* seed = std::getenv("SIMULATED_NOISE");
    return seed ? std::optional(Noise(std::stoull(seed))) : std::nullopt;
  }

  /// By what a rank's own work is longer.
  double of_work(double now_s, std::uint64_t rank) const { return small(mixed(now_s, {rank})); }

  /// By what a message is longer that leaves now.
  double of_message(double now_s, std::uint64_t from, std::uint64_t to, double bytes) const {
    constexpr double part_delayed = 0.01, times = 10;
    auto state = mixed(now_s, {from, to, std::bit_cast<std::uint64_t>(bytes)});
    return draw(state) < part_delayed ? times : small(state);
  }

 private:
  explicit Noise(std::uint64_t seed) : seed_(seed) {}

  /// SplitMix64 (Steele, Lea, Flood, OOPSLA'14).
  static std::uint64_t next(std::uint64_t& state) {
    auto z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  static double draw(std::uint64_t& state) { return static_cast<double>(next(state) >> 11) * 0x1p-53; }

  std::uint64_t mixed(double now_s, std::initializer_list<std::uint64_t> values) const {
    auto state = seed_ ^ std::bit_cast<std::uint64_t>(now_s);
    for (const auto value : values) state = next(state) ^ value;
    return next(state);
  }

  static double small(std::uint64_t state) {
    constexpr double deviation = 0.05;
    const double radius = std::sqrt(-2 * std::log(1 - draw(state)));  // Box and Muller
    return 1 + deviation * std::abs(radius * std::cos(2 * std::numbers::pi * draw(state)));
  }

  std::uint64_t seed_;
};

}  // namespace simulation
