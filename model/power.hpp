// A power that is the same on all ranks.
#pragma once

#include <cstdint>

namespace commpass {

/// By multiplications alone: a library's pow need not be the same on all ranks.
constexpr double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

}  // namespace commpass
