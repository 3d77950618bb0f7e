// A power that is the same everywhere.
#pragma once

#include <cstdint>

namespace commpass {

/// By multiplications alone: the pow of another library may differ in the last bit, and a price with it.
constexpr double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

}  // namespace commpass
