// What benchmarks make of their samples.
#pragma once

#include <algorithm>
#include <vector>

namespace commpass::bench {

/// The lower median.
/// @param values  at least one
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace commpass::bench
