// Numbers that sum up many.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace commpass::bench {

/// The value below or at which a fraction of them lies.
inline double quantile(std::vector<double> values, double fraction) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size()))) - 1];
}

inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace commpass::bench
