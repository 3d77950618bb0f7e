// Numbers that sum up many.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace commpass::bench {

/// The factor, at least 1, by which a ratio is off.
inline double factor_of(double ratio) { return std::max(ratio, 1 / ratio); }

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

/// The place of each value in their order, from 0; equal values share their mean place.
inline std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) result[order[j]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return result;
}

/// Spearman's. Nothing where all values of one of the two are equal.
inline std::optional<double> rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto x = ranks_of(a), y = ranks_of(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  if (xx > 0 && yy > 0) return xy / std::sqrt(xx * yy);
  return std::nullopt;
}

}  // namespace commpass::bench
