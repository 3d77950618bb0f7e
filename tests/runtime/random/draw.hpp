// Random numbers that are the same on every rank and with every compiler.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace commpass::random_test {

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
inline std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

/// A number that every other list of numbers makes another one of.
inline std::uint64_t key_of(std::initializer_list<std::int64_t> numbers) {
  std::uint64_t key = 0;
  for (const auto number : numbers) key = mix(key ^ static_cast<std::uint64_t>(number));
  return key;
}
inline std::uint64_t key_of(std::uint64_t key, std::int64_t number) {
  return mix(mix(key) ^ static_cast<std::uint64_t>(number));
}

/// A sequence that follows from its key alone.
class Draw {
 public:
  explicit Draw(std::uint64_t key) : state_(key) {}

  std::uint64_t next() { return mix(state_++); }
  /// 0 … limit−1
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit));
  }
  int small(int limit) { return static_cast<int>(below(limit)); }
  bool one_in(int number) { return below(number) == 0; }

  template <class Item>
  const Item& pick(const std::vector<Item>& items) {
    return items[static_cast<std::size_t>(below(std::ssize(items)))];
  }
  template <class Item>
  Item of(std::initializer_list<Item> items) {
    return items.begin()[below(static_cast<std::int64_t>(items.size()))];
  }
  template <class Item>
  void shuffle(std::vector<Item>& items) {
    for (auto rest = std::ssize(items); rest > 1; --rest)
      std::swap(items[static_cast<std::size_t>(rest - 1)], items[static_cast<std::size_t>(below(rest))]);
  }
  std::vector<int> order(int count) {
    std::vector<int> result;
    for (int i = 0; i < count; ++i) result.push_back(i);
    shuffle(result);
    return result;
  }

 private:
  std::uint64_t state_;
};

}  // namespace commpass::random_test
