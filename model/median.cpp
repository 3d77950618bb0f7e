#include "model/median.hpp"

#include <algorithm>
#include <cstddef>

namespace commpass {

double median(std::vector<double> sample) {
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  std::nth_element(sample.begin(), middle, sample.end());
  if (sample.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(sample.begin(), middle)) / 2;
}

double lower_median(std::vector<double> sample) {
  const auto middle = sample.begin() + (std::ssize(sample) - 1) / 2;
  std::ranges::nth_element(sample, middle);
  return *middle;
}

}  // namespace commpass
