#include "calibrate/fit/fit.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "calibrate/fit/pseudo_inverse.hpp"
#include "model/median.hpp"

namespace commpass {

double contradicting_deviations(std::ptrdiff_t freedom) {
  constexpr std::array small_samples{318.3, 22.33, 10.21, 7.173, 5.893, 5.208, 4.785, 4.501, 4.297, 4.144};
  constexpr double large_samples = 4;
  if (freedom < 1) return small_samples.front();
  return freedom <= std::ssize(small_samples) ? small_samples[static_cast<std::size_t>(freedom) - 1] : large_samples;
}

double lower_quartile(std::vector<double> sample) {
  const auto place = sample.begin() + (std::ssize(sample) - 1) / 4;
  std::ranges::nth_element(sample, place);
  return *place;
}

Interval lower_quartile_interval(std::vector<double> sample) {
  std::ranges::sort(sample);
  const auto n = static_cast<double>(sample.size());
  constexpr double z = 1.96, quantile = 0.25;  // 95 %; samples below the quartile are binomially distributed
  const double half_width = z * std::sqrt(n * quantile * (1 - quantile));
  const auto clamp = [&](double index) { return sample[static_cast<std::size_t>(std::clamp(index, 0.0, n - 1))]; };
  return {clamp(std::floor(n * quantile - half_width)), clamp(std::ceil(n * quantile + half_width))};
}

std::int64_t count_outliers(std::vector<double> sample) {
  std::ranges::sort(sample);
  const double first = sample[sample.size() / 4], third = sample[sample.size() * 3 / 4];
  constexpr double outlier_ratio = 3;  // Tukey's "far out"
  return std::ranges::count_if(sample, [&](double value) { return value > third + outlier_ratio * (third - first); });
}

namespace {

/// Weighted least squares with both coefficients ≥ 0.
Line solve(std::span<const SizePoint> points, const Eigen::VectorXd& weights) {
  const auto n = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixXd a(n, 2);
  Eigen::VectorXd b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto& point = points[static_cast<std::size_t>(i)];
    a.row(i) << weights[i], weights[i] * static_cast<double>(point.bytes);
    b[i] = weights[i] * point.seconds;
  }
  // Sizes span many orders of magnitude, so the columns are scaled.
  const double scale = std::max(a.col(1).norm(), std::numeric_limits<double>::min()) / a.col(0).norm();
  a.col(1) /= scale;
  const Eigen::VectorXd x = pseudo_inverse(a) * b;
  if (x[0] >= 0 && x[1] >= 0) return {x[0], x[1] / scale};
  if (x[0] < 0) return {0, std::max(0.0, a.col(1).dot(b) / a.col(1).squaredNorm()) / scale};
  return {a.col(0).dot(b) / a.col(0).squaredNorm(), 0};
}

Line fit_relative(std::span<const SizePoint> points, bool robust) {
  const auto n = static_cast<Eigen::Index>(points.size());
  Eigen::VectorXd relative(n);
  for (Eigen::Index i = 0; i < n; ++i) relative[i] = 1 / points[static_cast<std::size_t>(i)].seconds;
  Line line = solve(points, relative);
  constexpr int rounds = 5;
  constexpr double huber = 1.345, normal_mad = 1.4826;  // 95 % efficiency for normal errors; MAD to deviation
  for (int round = 0; robust && round < rounds && points.size() > 2; ++round) {
    std::vector<double> errors;
    for (const auto& point : points) errors.push_back(std::abs(line.at(point.bytes) / point.seconds - 1));
    const double limit = std::max(huber * normal_mad * median(errors), 1e-12);
    Eigen::VectorXd weights = relative;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double error = errors[static_cast<std::size_t>(i)];
      if (error > limit) weights[i] *= std::sqrt(limit / error);
    }
    line = solve(points, weights);
  }
  return line;
}

}  // namespace

Line fit_line(std::span<const SizePoint> points) { return fit_relative(points, true); }

Line fit_line_without_weights(std::span<const SizePoint> points) { return fit_relative(points, false); }

namespace {

/// Relative least squares of the last samples of a burst.
struct TailFit {
  Eigen::VectorXd coefficients;  // first, step and, of three columns, gamma
  double last_deviation = 0;     // of the last coefficient
};

TailFit fit_tail(std::span<const double> messages, std::span<const double> seconds, Eigen::Index columns) {
  constexpr double tail_ratio = 4;
  std::size_t begin = 0;
  while (tail_ratio * messages[begin] < messages.back()) ++begin;
  const auto n = static_cast<Eigen::Index>(messages.size() - begin);
  Eigen::MatrixXd a(n, columns);
  Eigen::VectorXd b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto at = begin + static_cast<std::size_t>(i);
    const double m = messages[at], weight = 1 / seconds[at];
    for (Eigen::Index c = 0; c < columns; ++c) a(i, c) = weight * (c == 0 ? 1 : c == 1 ? m : m * m / 2);
    b[i] = 1;
  }
  const Eigen::MatrixXd inverse = pseudo_inverse(a);
  TailFit fit{inverse * b};
  const double variance =
      (a * fit.coefficients - b).squaredNorm() / std::max<double>(1, static_cast<double>(n - columns));
  fit.last_deviation = std::sqrt(variance) * inverse.row(columns - 1).norm();
  return fit;
}

}  // namespace

Seconds fit_gamma(std::span<const double> messages, std::span<const double> seconds) {
  constexpr double significant_t = 3, step_ratio_min = 0.03;
  constexpr Eigen::Index quadratic = 3;
  const auto [x, deviation] = fit_tail(messages, seconds, quadratic);
  const bool is_significant = x[2] > significant_t * deviation && x[1] >= 0;
  return is_significant && x[2] * messages.back() / 2 > step_ratio_min * x[1] ? x[2] : 0;
}

Estimate fit_step(std::span<const double> messages, std::span<const double> seconds, Seconds gamma_s) {
  constexpr Eigen::Index linear = 2;
  constexpr double rest_ratio_min = 0.1;  // an uncertain γ may explain at most the rest of a time
  std::vector<double> without_queue;
  for (std::size_t i = 0; i < messages.size(); ++i)
    without_queue.push_back(
        std::max(seconds[i] - gamma_s * messages[i] * messages[i] / 2, rest_ratio_min * seconds[i]));
  const auto [x, deviation] = fit_tail(messages, without_queue, linear);
  return {std::max(0.0, x[1]), deviation};
}

CallFit fit_call(std::span<const double> messages, std::span<const double> seconds,
                 std::span<const double> other_seconds) {
  const auto n = static_cast<Eigen::Index>(messages.size());
  // The estimates and their t-values; longer times are less certain.
  const auto fit = [&](Eigen::Index columns) {
    Eigen::MatrixXd a(n, columns);
    Eigen::VectorXd b(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double weight = 1 / (seconds[at] + other_seconds[at]);
      a(i, 0) = weight;
      if (columns > 1) a(i, 1) = weight * messages[at];
      b[i] = weight * (seconds[at] - other_seconds[at]);
    }
    const Eigen::MatrixXd inverse = pseudo_inverse(a);
    const Eigen::VectorXd x = inverse * b;
    const double variance = (a * x - b).squaredNorm() / static_cast<double>(n - columns);
    const Eigen::VectorXd deviations = std::sqrt(variance) * inverse.rowwise().norm();
    return std::pair(x, deviations);
  };
  const auto value = [n](const auto& fitted, Eigen::Index column) {
    constexpr double significant_t = 3;
    const auto& [x, deviations] = fitted;
    const double least = x[column] > 0 ? significant_t : contradicting_deviations(n - x.size());
    return std::abs(x[column]) > least * deviations[column] ? x[column] : 0.0;
  };
  constexpr Eigen::Index constant = 1, linear = 2;
  const auto line = fit(linear);
  const double message_s = value(line, 1);
  return message_s != 0 ? CallFit{value(line, 0), message_s} : CallFit{value(fit(constant), 0), 0};
}

double fit_shared_rate(std::span<const int> pairs, std::span<const double> seconds, Bytes bytes, Seconds alpha_s,
                       std::span<const Interval> known) {
  constexpr double growth_min = 1.1, interval_growth_min = 1.03;
  std::vector<double> rates;
  std::size_t fastest = 0;  // of fewer pairs; one alone may be slower, as fewer of its messages overlap
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const bool is_sure = !known.empty() && known[i].low > interval_growth_min * known[fastest].high;
    if (is_sure || seconds[i] > growth_min * seconds[0])
      rates.push_back(static_cast<double>(pairs[i]) * static_cast<double>(bytes) / (seconds[i] - alpha_s));
    if (seconds[i] < seconds[fastest]) fastest = i;
  }
  return rates.empty() ? std::numeric_limits<double>::infinity() : median(rates);
}

}  // namespace commpass
