#include "preload/ticks.hpp"

#include "preload/call_log.hpp"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace commpass {

std::uint64_t read_ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  constexpr double ticks_per_s = 1e9;
  return static_cast<std::uint64_t>(monotonic_seconds() * ticks_per_s);
#endif
}

TickClock::TickClock() : begin_ticks_(read_ticks()), measured_until_(begin_ticks_), begin_s_(monotonic_seconds()) {}

void TickClock::measure() {
  measured_until_ = read_ticks();
  const auto ticks = static_cast<double>(measured_until_ - begin_ticks_);
  if (ticks > 0) seconds_per_tick_ = (monotonic_seconds() - begin_s_) / ticks;
}

Seconds TickClock::since_begin(std::uint64_t ticks) {
  const auto since = ticks > begin_ticks_ ? ticks - begin_ticks_ : 0;
  if (since > 2 * (measured_until_ - begin_ticks_)) measure();
  return duration(since);
}

}  // namespace commpass
