#include "selector/choose/measured_choice.hpp"

#include <algorithm>
#include <cmath>

#include "model/median.hpp"

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

MedianInterval exact_median_interval(std::vector<double> numbers) {
  const auto outside = outside_at_each_end(numbers.size());
  MedianInterval result;
  if (outside > 0) {
    std::ranges::sort(numbers);
    result.low = numbers[outside - 1];
    result.high = numbers[numbers.size() - outside];
  }
  result.median = median(std::move(numbers));
  return result;
}

std::vector<MedianInterval> ratios_to_first(std::span<const std::vector<Seconds>> seconds) {
  std::vector<MedianInterval> result;
  for (const auto& own : seconds) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < own.size(); ++round)
      if (const auto base = seconds.front()[round]; base > 0) ratios.push_back(own[round] / base);
    result.push_back(ratios.empty() ? MedianInterval{} : exact_median_interval(std::move(ratios)));
  }
  return result;
}

std::size_t fastest_beyond_doubt(std::span<const MedianInterval> ratios) {
  std::size_t fastest = 0;
  for (std::size_t i = 1; i < ratios.size(); ++i)
    if (ratios[i].high < 1 && (fastest == 0 || ratios[i].median < ratios[fastest].median)) fastest = i;
  return fastest;
}

bool is_beaten(std::span<const MedianInterval> ratios, std::size_t strategy) {
  double least_high = 1;
  for (std::size_t i = 1; i < ratios.size(); ++i) least_high = std::min(least_high, ratios[i].high);
  return strategy != 0 && ratios[strategy].low > least_high;
}

}  // namespace commpass
