// The time stamp counter of the processor, and its seconds.
#pragma once

#include <cstdint>

#include "model/base/types.hpp"

namespace commpass {

/// Time in units of the processor, which is read faster than a clock.
std::uint64_t read_ticks();

/// A clock that all processes of a node share: that of the system (CLOCK_MONOTONIC), by ticks since a reading of this
/// thread that is at most a millisecond old.
Seconds monotonic_seconds();

/// Turns ticks into seconds: by the clock of the system, which it reads again whenever the time has doubled.
class TickClock {
 public:
  TickClock();
  Seconds since_begin(std::uint64_t ticks);
  Seconds duration(std::uint64_t ticks) const { return static_cast<double>(ticks) * seconds_per_tick_; }
  void measure();

 private:
  std::uint64_t begin_ticks_, measured_until_;
  Seconds begin_s_;
  double seconds_per_tick_ = 0;
};

}  // namespace commpass
