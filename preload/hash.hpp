// Hashes by which ranks recognise what they have in common.
#pragma once

#include <cstdint>

namespace commpass {

/// splitmix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit of the number.
constexpr std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15U;
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31U);
}

constexpr std::uint64_t joined(std::uint64_t hash, std::uint64_t number) { return mixed(hash ^ mixed(number)); }

}  // namespace commpass
