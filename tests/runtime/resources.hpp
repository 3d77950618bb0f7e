// Counts resources taken from MPI and from the heap. Link resources.cpp into one test program.
#pragma once

#include <cstdint>

namespace commpass::test {

/// What this process has taken from MPI and not given back.
struct Held {
  std::int64_t communicators = 0, requests = 0, types = 0;
  bool operator==(const Held&) const = default;
};
Held held();

/// How much of each was ever taken.
Held taken();

/// Calls of operator new until now.
std::int64_t allocations();

/// Refuses memory until it goes: of the calls of operator new for `at_least_bytes` and more, some after the first ones.
class Scarcity {
 public:
  Scarcity(std::size_t at_least_bytes, std::int64_t after, std::int64_t refusals);
  ~Scarcity();
  Scarcity(const Scarcity&) = delete;
  Scarcity& operator=(const Scarcity&) = delete;
  /// Has it refused any?
  static bool was_felt();
};

}  // namespace commpass::test
