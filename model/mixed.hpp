// Numbers that tell values apart where only their sum is seen.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace commpass {

/// One number of several, in order: each is added and mixed in by the finalizer of SplitMix64 (Steele, Lea, Flood
/// 2014).
inline std::uint64_t mixed(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t result = 0;
  for (const auto number : numbers) {
    result += number + 0x9E3779B97F4A7C15U;
    result = (result ^ (result >> 30U)) * 0xBF58476D1CE4E5B9U;
    result = (result ^ (result >> 27U)) * 0x94D049BB133111EBU;
    result ^= result >> 31U;
  }
  return result;
}

}  // namespace commpass
