#include "selector/choose/median_interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace commpass {

namespace {

/// How many of n numbers lie outside the interval at either end: the most of which the binomial distribution says that
/// fewer of n fair coins show heads in at most 2.5 % of all cases.
std::size_t outside_at_each_end(std::size_t n) {
  constexpr double of_one_side = 0.025;
  const auto count = static_cast<double>(n);
  double sum = 0;
  for (std::size_t k = 0; 2 * k < n; ++k) {
    const auto heads = static_cast<double>(k);
    sum += std::exp(std::lgamma(count + 1) - std::lgamma(heads + 1) - std::lgamma(count - heads + 1) -
                    count * std::log(2.0));
    if (sum > of_one_side) return k;
  }
  return n / 2;
}

}  // namespace

MedianInterval sort_to_median_interval(std::span<double> numbers) {
  std::ranges::sort(numbers);
  const auto count = numbers.size(), outside = outside_at_each_end(count);
  MedianInterval result{(numbers[(count - 1) / 2] + numbers[count / 2]) / 2};
  if (outside > 0) {
    result.low = numbers[outside - 1];
    result.high = numbers[count - outside];
  }
  return result;
}

}  // namespace commpass
