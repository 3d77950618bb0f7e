#include "calibrate/fit/fit.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "calibrate/fit/pseudo_inverse.hpp"
#include "model/median.hpp"

namespace commpass {

double contradicting_deviations(std::ptrdiff_t freedom) {
  constexpr std::array small_samples{318.3, 22.33, 10.21, 7.173, 5.893, 5.208, 4.785, 4.501, 4.297, 4.144};
  constexpr double large_samples = 4;
  if (freedom < 1) return small_samples.front();
  return freedom <= std::ssize(small_samples) ? small_samples[at(freedom) - 1] : large_samples;
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
    const auto& point = points[at(i)];
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

Line fit_relative(std::span<const SizePoint> points, int rounds) {
  Eigen::VectorXd relative(std::ssize(points));
  for (std::size_t i = 0; i < points.size(); ++i) relative[static_cast<Eigen::Index>(i)] = 1 / points[i].seconds;
  Line line = solve(points, relative);
  for (int round = 0; round < rounds && points.size() > 2; ++round) {
    const auto weights = huber_weights(points, line);
    line = solve(points, relative.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(weights.data(), relative.size())));
  }
  return line;
}

/// Relative least squares of a polynomial: x₀ + x₁·m + x₂·m²/2, or fewer terms.
struct PolynomialFit {
  Eigen::VectorXd x, deviations;
};

/// @param scales  to which the errors of `values` are relative
PolynomialFit fit_polynomial(std::span<const double> messages, std::span<const double> values,
                             std::span<const double> scales, Eigen::Index terms) {
  const auto n = std::ssize(messages);
  Eigen::MatrixXd a(n, terms);
  Eigen::VectorXd b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const double m = messages[at(i)], weight = 1 / scales[at(i)];
    for (Eigen::Index c = 0; c < terms; ++c) a(i, c) = weight * (c == 0 ? 1 : c == 1 ? m : m * m / 2);
    b[i] = weight * values[at(i)];
  }
  const Eigen::MatrixXd inverse = pseudo_inverse(a);
  const Eigen::VectorXd x = inverse * b;
  const double variance = (a * x - b).squaredNorm() / std::max(1.0, static_cast<double>(n - terms));
  return {x, std::sqrt(variance) * inverse.rowwise().norm()};
}

/// Fits the last samples of a burst.
PolynomialFit fit_tail(std::span<const double> messages, std::span<const double> seconds, Eigen::Index terms) {
  constexpr double tail_ratio = 4;
  std::size_t begin = 0;
  while (tail_ratio * messages[begin] < messages.back()) ++begin;
  return fit_polynomial(messages.subspan(begin), seconds.subspan(begin), seconds.subspan(begin), terms);
}

}  // namespace

std::vector<double> huber_weights(std::span<const SizePoint> points, const Line& line) {
  constexpr double huber = 1.345, normal_mad = 1.4826;  // 95 % efficiency for normal errors; MAD to deviation
  std::vector<double> errors;
  for (const auto& point : points) errors.push_back(std::abs(line.at(point.bytes) / point.seconds - 1));
  const double limit = std::max(huber * normal_mad * median(errors), 1e-12);
  for (auto& error : errors) error = error > limit ? std::sqrt(limit / error) : 1;
  return errors;
}

Line fit_line(std::span<const SizePoint> points) {
  constexpr int rounds = 5;
  return fit_relative(points, rounds);
}

Line fit_line_without_weights(std::span<const SizePoint> points) { return fit_relative(points, 0); }

Seconds fit_gamma(std::span<const double> messages, std::span<const double> seconds) {
  constexpr double significant_t = 3, step_ratio_min = 0.03;
  constexpr Eigen::Index quadratic = 3;
  const auto [x, deviations] = fit_tail(messages, seconds, quadratic);
  const bool is_significant = x[2] > significant_t * deviations[2] && x[1] >= 0;
  return is_significant && x[2] * messages.back() / 2 > step_ratio_min * x[1] ? x[2] : 0;
}

Estimate fit_step(std::span<const double> messages, std::span<const double> seconds, Seconds gamma_s) {
  constexpr Eigen::Index linear = 2;
  constexpr double rest_ratio_min = 0.1;  // an uncertain γ may explain at most the rest of a time
  std::vector<double> without_queue;
  for (std::size_t i = 0; i < messages.size(); ++i)
    without_queue.push_back(
        std::max(seconds[i] - gamma_s * messages[i] * messages[i] / 2, rest_ratio_min * seconds[i]));
  const auto [x, deviations] = fit_tail(messages, without_queue, linear);
  return {std::max(0.0, x[1]), deviations[1]};
}

CallFit fit_call(std::span<const double> messages, std::span<const double> seconds,
                 std::span<const double> other_seconds) {
  std::vector<double> differences, sums;  // longer times are less certain
  std::ranges::transform(seconds, other_seconds, std::back_inserter(differences), std::minus());
  std::ranges::transform(seconds, other_seconds, std::back_inserter(sums), std::plus());
  const auto value = [&](const PolynomialFit& fit, Eigen::Index term) {
    constexpr double significant_t = 3;
    const double x = fit.x[term];
    const double least = x > 0 ? significant_t : contradicting_deviations(std::ssize(messages) - fit.x.size());
    return std::abs(x) > least * fit.deviations[term] ? x : 0.0;
  };
  constexpr Eigen::Index constant = 1, linear = 2;
  const auto line = fit_polynomial(messages, differences, sums, linear);
  if (const double message_s = value(line, 1); message_s != 0) return {value(line, 0), message_s};
  return {value(fit_polynomial(messages, differences, sums, constant), 0), 0};
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
