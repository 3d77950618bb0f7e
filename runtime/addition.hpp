// How values are added up: by a function of the user, or by that of numbers, which kernels of devices know, too.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace commpass {

/// Numbers that a kernel adds (runtime/device/pieces.cl). Sums of signed integers have the bits of unsigned ones.
enum class NumberType : std::uint8_t {
  others = 0,
  integers_of_1_byte = 1,
  integers_of_2_bytes = 2,
  integers_of_4_bytes = 3,
  integers_of_8_bytes = 4,
  floats = 5,
  doubles = 6
};

/// The type of numbers of a C++ type.
template <class Number>
constexpr NumberType number_type_of() {
  if (std::is_same_v<Number, float>) return NumberType::floats;
  if (std::is_same_v<Number, double>) return NumberType::doubles;
  if (!std::is_integral_v<Number> || std::is_same_v<Number, bool>) return NumberType::others;
  switch (sizeof(Number)) {
    case 1: return NumberType::integers_of_1_byte;
    case 2: return NumberType::integers_of_2_bytes;
    case 4: return NumberType::integers_of_4_bytes;
    case 8: return NumberType::integers_of_8_bytes;
    default: return NumberType::others;
  }
}

/// Adds `count` values, one after another, to as many sums. Associative and commutative, up to rounding, unless
/// IndexedOptions::deterministic asks for one order. It is called as soon as values have come: also in calls that test
/// or wait for other exchanges, and when the exchange is destroyed in flight. Where it throws, the exchange goes on,
/// perhaps without the values of that call. The rank throws the first of its exceptions when the exchange is complete.
/// Other ranks are not told, and get sums from which those values may be missing.
class Addition {
 public:
  Addition() = default;
  /// @param numbers  that it adds: then a kernel may do the same where sums lie on a device
  template <std::invocable<const void*, void*, std::int64_t> Function>
  requires(!std::same_as<Function, Addition>)
      Addition(Function function, NumberType numbers = NumberType::others)  // NOLINT: functions are additions
      : function_(std::move(function)), numbers_(numbers) {}

  /// @param sums  of count values
  void operator()(const void* values, void* sums, std::int64_t count) const { function_(values, sums, count); }
  /// Does it have a function?
  explicit operator bool() const { return function_ != nullptr; }
  /// The type of numbers that it adds.
  NumberType numbers() const { return numbers_; }

 private:
  std::function<void(const void* values, void* sums, std::int64_t count)> function_;
  NumberType numbers_ = NumberType::others;
};

/// Adds values of one or several numbers each.
template <class Number>
Addition addition_of(std::int64_t numbers_of_a_value) {
  static_assert(std::is_arithmetic_v<Number>, "give an Addition for other types");
  const auto add = [numbers_of_a_value](const void* values, void* sums, std::int64_t count) {
    const auto* from = static_cast<const Number*>(values);
    auto* to = static_cast<Number*>(sums);
    for (std::int64_t i = 0; i < count * numbers_of_a_value; ++i) to[i] = static_cast<Number>(to[i] + from[i]);
  };
  return {add, number_type_of<Number>()};
}

}  // namespace commpass
