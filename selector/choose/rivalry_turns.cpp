#include "selector/choose/rivalry_turns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "selector/choose/rivalry.hpp"

namespace commpass {

Turns turns_of(double calls, double ratio) {
  constexpr std::int64_t asked_max = std::int64_t{1} << 16U;  // the calls after these run as the last of them
  const auto asked = static_cast<std::int64_t>(std::min(std::ceil(calls), static_cast<double>(asked_max)));
  Rivalry rivalry;
  Turns turns;
  auto last = Rivalry::Turn::library;
  for (std::int64_t call = 0; call < asked; ++call) {
    const auto count = std::min(1.0, calls - static_cast<double>(call));
    switch (const auto turn = rivalry.next()) {
      case Rivalry::Turn::library: turns.library += count, last = turn; break;
      case Rivalry::Turn::ours: turns.ours += count, last = turn; break;
      case Rivalry::Turn::both:
        turns.both += count;
        rivalry.add(1, ratio);
        break;
    }
  }
  (last == Rivalry::Turn::ours ? turns.ours : turns.library) += std::max(calls - static_cast<double>(asked_max), 0.0);
  return turns;
}

}  // namespace commpass
