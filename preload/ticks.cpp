#include "preload/ticks.hpp"

#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_gettime is POSIX

#include <algorithm>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace commpass {

namespace {

Seconds system_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr double nano = 1e-9;
  return static_cast<double>(now.tv_sec) + nano * static_cast<double>(now.tv_nsec);
}

/// The system's clock, and the ticks at that time.
struct Reading {
  Seconds seconds = 0;
  std::uint64_t ticks = 0;
};

/// The best of some readings: what interrupts one makes it late.
Reading read_clock() {
  constexpr int readings_max = 4;
  constexpr std::uint64_t undisturbed_ticks = 1000;
  Reading best;
  auto least = ~std::uint64_t{0};
  for (int i = 0; i < readings_max && least > undisturbed_ticks; ++i) {
    const auto begin = read_ticks();
    const auto seconds = system_seconds();
    const auto ticks = read_ticks() - begin;
    if (ticks < least) best = {seconds, begin + ticks / 2};
    least = std::min(least, ticks);
  }
  return best;
}

/// The time by ticks since a reading that is at most a millisecond old.
class ReadAhead {
 public:
  Seconds seconds() {
    const auto since = read_ticks() - last_.ticks;  // of a processor whose counter is behind: beyond all limits
    return since < valid_ticks_ ? last_.seconds + static_cast<double>(since) * seconds_per_tick_ : read_again();
  }

 private:
  Seconds read_again() {
    constexpr Seconds valid_s = 1e-3, rate_s_min = 1e-3, rate_s_max = 16e-3;
    last_ = read_clock();
    const auto since_s = last_.seconds - rate_begin_.seconds;
    const bool is_rate_known = rate_begin_.ticks > 0 && since_s > rate_s_min && last_.ticks > rate_begin_.ticks;
    if (is_rate_known) seconds_per_tick_ = since_s / static_cast<double>(last_.ticks - rate_begin_.ticks);
    valid_ticks_ = is_rate_known ? static_cast<std::uint64_t>(valid_s / seconds_per_tick_) : 0;
    if (since_s > rate_s_max) rate_begin_ = last_;
    return last_.seconds;
  }

  Reading last_ = {}, rate_begin_ = {};
  std::uint64_t valid_ticks_ = 0;
  double seconds_per_tick_ = 0;
};

}  // namespace

Seconds monotonic_seconds() {
  thread_local ReadAhead clock;
  return clock.seconds();
}

std::uint64_t read_ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  constexpr double ticks_per_s = 1e9;
  return static_cast<std::uint64_t>(system_seconds() * ticks_per_s);
#endif
}

TickClock::TickClock() : begin_ticks_(read_ticks()), measured_until_(begin_ticks_), begin_s_(system_seconds()) {}

void TickClock::measure() {
  measured_until_ = read_ticks();
  const auto ticks = static_cast<double>(measured_until_ - begin_ticks_);
  if (ticks > 0) seconds_per_tick_ = (system_seconds() - begin_s_) / ticks;
}

Seconds TickClock::since_begin(std::uint64_t ticks) {
  const auto since = ticks > begin_ticks_ ? ticks - begin_ticks_ : 0;
  if (since > 2 * (measured_until_ - begin_ticks_)) measure();
  return duration(since);
}

}  // namespace commpass
