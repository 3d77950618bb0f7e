#include "calibrate/fit/switches.hpp"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "calibrate/fit/constrained.hpp"
#include "calibrate/fit/pseudo_inverse.hpp"

namespace commpass {

namespace {

/// The points of each segment.
std::vector<std::span<const SizePoint>> split_points(std::span<const SizePoint> points,
                                                     std::span<const Segment> segments) {
  std::vector<std::span<const SizePoint>> parts;
  for (const auto& segment : segments) {
    const bool is_last = &segment == &segments.back();
    const auto end =
        is_last ? points.end() : std::ranges::upper_bound(points, segment.max_bytes, {}, &SizePoint::bytes);
    parts.push_back(points.first(at(end - points.begin())));
    points = points.subspan(parts.back().size());
  }
  return parts;
}

/// The time of a size by a line through points, and its standard deviation.
Estimate line_at(std::span<const SizePoint> points, const Line& line, Bytes bytes) {
  Eigen::MatrixXd relative(std::ssize(points), 2);
  double squares = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& point = points[i];
    relative.row(static_cast<Eigen::Index>(i)) << 1 / point.seconds, static_cast<double>(point.bytes) / point.seconds;
    squares += std::pow(line.at(point.bytes) / point.seconds - 1, 2);
  }
  const Eigen::RowVector2d at(1, static_cast<double>(bytes));
  const double variance = squares / std::max(1.0, static_cast<double>(points.size()) - 2);
  return {line.at(bytes), std::sqrt(variance) * (at * pseudo_inverse(relative)).norm()};
}

/// Do the points prove that the time falls at this size?
bool falls(std::span<const SizePoint> before, const Line& first, std::span<const SizePoint> after, const Line& second,
           Bytes bytes) {
  const auto above = line_at(before, first, bytes), below = line_at(after, second, bytes);
  const auto freedom = std::ssize(before) + std::ssize(after) - 4;  // α and β of both
  return above.value - below.value > contradicting_deviations(freedom) * std::hypot(above.deviation, below.deviation);
}

/// The relation between a point and α and β of all segments, by the relative error.
Relation relation_of(const SizePoint& point, double weight, std::size_t segment, std::size_t segments) {
  Relation relation{std::vector<double>(2 * segments), weight};
  relation.coefficients[2 * segment] = weight / point.seconds;
  relation.coefficients[2 * segment + 1] = weight * static_cast<double>(point.bytes) / point.seconds;
  return relation;
}

std::string protocol_name(std::size_t index, std::size_t count) {
  if (index + 1 == count && count > 1) return "rendezvous";
  if (index == 0 && count > 2) return "short";
  return index < 2 ? "eager" : fmt::format("eager-{}", index);
}

}  // namespace

std::vector<Line> hold_at_switches(std::span<const SizePoint> points, std::span<const Segment> segments) {
  std::vector<Line> lines;
  for (const auto& segment : segments) lines.push_back(segment.line);
  const auto parts = split_points(points, segments);
  if (std::ranges::any_of(parts, [](const auto& part) { return part.empty(); })) return lines;

  const auto columns = 2 * lines.size();
  std::vector<Relation> bounds;
  bool holds = true;
  for (std::size_t i = 0; i < columns; ++i) {  // no α and no β is negative
    bounds.push_back({std::vector<double>(columns), 0});
    bounds.back().coefficients[i] = 1;
  }
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const Bytes bytes = segments[i].max_bytes;
    if (falls(parts[i], lines[i], parts[i + 1], lines[i + 1], bytes)) continue;
    holds = holds && lines[i + 1].at(bytes) >= lines[i].at(bytes);
    const auto size = static_cast<double>(bytes);
    auto& row = bounds.emplace_back(Relation{std::vector<double>(columns), 0}).coefficients;
    row[2 * i] = -1;
    row[2 * i + 1] = -size;
    row[2 * i + 2] = 1;
    row[2 * i + 3] = size;
  }
  if (holds) return lines;

  std::vector<Relation> wanted;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto weights = huber_weights(parts[i], lines[i]);
    for (std::size_t k = 0; k < weights.size(); ++k)
      wanted.push_back(relation_of(parts[i][k], weights[k], i, lines.size()));
  }
  const auto x = solve_within_bounds(wanted, bounds);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = {std::max(0.0, x[2 * i]), std::max(0.0, x[2 * i + 1])};
  return lines;
}

std::vector<Protocol> protocols_of(std::span<const SizePoint> points, std::span<Segment> segments) {
  const auto lines = hold_at_switches(points, segments);
  std::vector<Protocol> protocols;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    auto& segment = segments[i];
    segment.line = lines[i];
    protocols.push_back({protocol_name(i, segments.size()), segment.max_bytes, segment.line.alpha_s,
                         segment.line.beta_s_per_byte, segment.line.alpha_s});
  }
  if (!protocols.empty()) protocols.back().max_bytes = std::numeric_limits<Bytes>::max();
  return protocols;
}

}  // namespace commpass
