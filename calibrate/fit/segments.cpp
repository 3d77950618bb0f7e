// Segmented regression: the number of protocols, and the sizes of each.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "calibrate/fit/fit.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

double relative_error(const Line& line, const SizePoint& point) {
  return std::abs(line.at(point.bytes) / point.seconds - 1);
}

constexpr std::size_t segment_sizes_min = 4;

/// The median relative error of lines through neighbouring sizes: noise that no number of segments explains.
double local_error(std::span<const SizePoint> points) {
  std::vector<double> errors;
  for (std::size_t first = 0; first + segment_sizes_min <= points.size(); ++first) {
    const auto some = points.subspan(first, segment_sizes_min);
    const auto line = fit_line(some);
    for (const auto& point : some) errors.push_back(relative_error(line, point));
  }
  return errors.empty() ? 0 : median(std::move(errors));
}

/// The best cuts into one segment, two, ….
struct Cuts {
  std::vector<double> squared_error;             ///< by segments − 1; infinite if there are too few sizes
  std::vector<std::vector<std::size_t>> begins;  ///< of the segments
};

/// @param error_max  larger errors count as this, so that an outlier does not get its own segment
Cuts cut(std::span<const SizePoint> points, std::size_t pieces, double error_max) {
  const std::size_t n = points.size();
  // best[k][j]: the least squared error of the first j points in k+1 segments; from[k][j]: begin of the last segment.
  std::vector best(pieces, std::vector<double>(n + 1, std::numeric_limits<double>::infinity()));
  std::vector from(pieces, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t first = 0; first < n; ++first)
    for (std::size_t end = first == 0 ? std::min(n, segment_sizes_min) : first + segment_sizes_min; end <= n; ++end) {
      const auto piece = points.subspan(first, end - first);
      const auto line = fit_line(piece);
      double error = 0;
      for (const auto& point : piece) error += std::pow(std::min(error_max, relative_error(line, point)), 2);
      if (first == 0) best[0][end] = error;
      for (std::size_t k = 1; first > 0 && k < pieces; ++k)
        if (best[k - 1][first] + error < best[k][end]) {
          best[k][end] = best[k - 1][first] + error;
          from[k][end] = first;
        }
    }
  Cuts cuts;
  for (std::size_t k = 0; k < pieces; ++k) {
    cuts.squared_error.push_back(best[k][n]);
    auto& begins = cuts.begins.emplace_back(k + 1);
    for (std::size_t i = k + 1, end = n; i-- > 0;) end = begins[i] = i > 0 ? from[i][end] : 0;
  }
  return cuts;
}

std::span<const SizePoint> piece_of(std::span<const SizePoint> points, const std::vector<std::size_t>& begins,
                                    std::size_t index) {
  const auto end = index + 1 < begins.size() ? begins[index + 1] : points.size();
  return points.subspan(begins[index], end - begins[index]);
}

/// The number of segments that the Bayesian information criterion prefers, less one.
std::size_t preferred(const Cuts& cuts, std::size_t sizes) {
  // Without a floor of the noise, exact (simulated) data would be cut into ever more segments.
  constexpr double noise = 0.005, parameters = 3;  // α, β and the switch point
  const auto size = static_cast<double>(sizes);
  std::size_t chosen = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < cuts.squared_error.size(); ++k) {
    const double criterion = size * std::log(cuts.squared_error[k] / size + noise * noise) +
                             parameters * static_cast<double>(k + 1) * std::log(size);
    if (criterion < least) {
      least = criterion;
      chosen = k;
    }
  }
  return chosen;
}

/// Errors at held-out sizes, by cross-validation in five folds. Between two segments the better one counts, since
/// switches are narrowed later.
/// @return by segments − 1, then by size
std::vector<std::vector<double>> held_out_errors(std::span<const SizePoint> points, std::size_t pieces,
                                                 double error_max) {
  constexpr std::size_t folds = 5;
  std::vector errors(pieces, std::vector<double>(points.size()));
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<SizePoint> kept;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (i % folds != fold) kept.push_back(points[i]);
    const auto cuts = cut(kept, pieces, error_max);
    for (std::size_t k = 0; k < pieces; ++k) {
      if (!std::isfinite(cuts.squared_error[k])) {  // too few sizes for k + 1 segments
        for (std::size_t i = fold; i < points.size(); i += folds) errors[k][i] = errors[k - 1][i];
        continue;
      }
      std::vector<Line> lines;
      for (std::size_t piece = 0; piece <= k; ++piece) lines.push_back(fit_line(piece_of(kept, cuts.begins[k], piece)));
      for (std::size_t i = fold; i < points.size(); i += folds) {
        const auto below = i - (i + folds - 1 - fold) / folds;  // kept sizes that are smaller
        std::size_t piece = 0;
        while (piece < k && cuts.begins[k][piece + 1] < below) ++piece;
        auto& error = errors[k][i];
        error = relative_error(lines[piece], points[i]);
        const bool is_between = piece < k && cuts.begins[k][piece + 1] == below;
        if (is_between) error = std::min(error, relative_error(lines[piece + 1], points[i]));
      }
    }
  }
  return errors;
}

/// The least number of segments, up to `pieces`, whose held-out error is that of the best number, to one standard error
/// of the difference.
std::size_t fewest_as_good(std::span<const SizePoint> points, std::size_t pieces, double error_max) {
  if (pieces == 1) return 1;
  const auto errors = held_out_errors(points, pieces, error_max);
  const auto sum = [](const std::vector<double>& all) { return std::accumulate(all.begin(), all.end(), 0.0); };
  const auto best = std::ranges::min_element(errors, {}, sum);
  const auto n = static_cast<double>(points.size());
  for (std::size_t k = 0; k < pieces; ++k) {
    constexpr double negligible_error = 0.001;
    const double more = (sum(errors[k]) - sum(*best)) / n;
    double variance = 0;
    for (std::size_t i = 0; i < points.size(); ++i) variance += std::pow(errors[k][i] - (*best)[i] - more, 2);
    if (more <= std::max(negligible_error, std::sqrt(variance / (n - 1) / n))) return k + 1;
  }
  return pieces;
}

/// Finds the 95 % intervals of α and β by a bootstrap over sizes.
void find_intervals(std::span<const SizePoint> points, Segment& segment) {
  constexpr int resamples = 200;
  constexpr std::size_t low = 5, high = 194;  // 2.5 % and 97.5 % of 200
  std::mt19937 random(1);
  std::vector<double> alphas, betas;
  std::vector<SizePoint> resample(points.size());
  for (int i = 0; i < resamples; ++i) {
    for (auto& point : resample) point = points[random() % points.size()];
    const Line line = fit_line_without_weights(resample);
    alphas.push_back(line.alpha_s);
    betas.push_back(line.beta_s_per_byte);
  }
  std::ranges::sort(alphas);
  std::ranges::sort(betas);
  segment.alpha_interval = {alphas[low], alphas[high]};
  segment.beta_interval = {betas[low], betas[high]};
}

}  // namespace

double median_relative_error(std::span<const SizePoint> points, const Line& line) {
  std::vector<double> errors;
  for (const auto& point : points) errors.push_back(relative_error(line, point));
  return median(std::move(errors));
}

Segment fit_segment(std::span<const SizePoint> points) {
  Segment segment;
  segment.max_bytes = points.back().bytes;
  segment.line = fit_line(points);
  segment.sizes = points.size();
  segment.median_relative_error = median_relative_error(points, segment.line);
  find_intervals(points, segment);
  return segment;
}

std::vector<Segment> fit_segments(std::span<const SizePoint> points) {
  constexpr std::size_t segments_max = 5;
  constexpr double quiet_error_max = 0.1, outlier_ratio = 4;  // of a quiet machine; of the local error
  const double error_max = std::max(quiet_error_max, outlier_ratio * local_error(points));
  const auto cuts = cut(points, segments_max, error_max);
  const auto pieces = fewest_as_good(points, preferred(cuts, points.size()) + 1, error_max);
  std::vector<Segment> segments;
  for (std::size_t i = 0; i < pieces; ++i)
    segments.push_back(fit_segment(piece_of(points, cuts.begins[pieces - 1], i)));
  return segments;
}

std::vector<Bytes> sizes_beside_unexplained(std::span<const SizePoint> points, std::span<const Segment> segments) {
  std::vector<double> errors, limits;  // of each size
  std::size_t piece = 0;
  for (const auto& point : points) {
    while (piece + 1 < segments.size() && point.bytes > segments[piece].max_bytes) ++piece;
    errors.push_back(relative_error(segments[piece].line, point));
    limits.push_back(segments[piece].median_relative_error);
  }
  constexpr double limit_min = 0.03, outlier_ratio = 6;
  const double median_error = median(errors);
  for (auto& limit : limits) limit = std::max(limit_min, outlier_ratio * std::min(median_error, limit));

  std::set<Bytes> sizes;
  const auto add_between = [&](Bytes low, Bytes high) {
    if (high - low > 1)
      sizes.insert(std::clamp<Bytes>(std::llround(std::sqrt(low) * std::sqrt(high)), low + 1, high - 1));
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (errors[i] <= limits[i]) continue;
    if (i > 0) add_between(points[i - 1].bytes, points[i].bytes);
    if (i + 1 < points.size()) add_between(points[i].bytes, points[i + 1].bytes);
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace commpass
