#include "calibrate/fit/attribution.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/fit/constrained.hpp"
#include "model/machine/plausibility.hpp"

namespace commpass {

namespace {

constexpr double same_time_ratio = 1.1;  // times that differ by less are equal

/// The line with the least relative errors at two points, within the bounds of lone messages.
Line through(const SizePoint& small, const SizePoint& large, const LoneMessages& lone) {
  if (large.bytes <= small.bytes) return {std::min(small.seconds, lone.line.alpha_s), 0};
  constexpr double negligible_ratio = 1e-3;  // of the longer time
  const Seconds least = negligible_ratio * std::max(small.seconds, large.seconds);
  if (least <= 0) return {};
  std::vector<Relation> wanted, bounds{{{1, 0}, 0}, {{0, 1}, 0}};
  for (const auto& [bytes, seconds] : {small, large}) {
    const double weight = 1 / std::max(seconds, least);
    wanted.push_back({{weight, weight * static_cast<double>(bytes)}, weight * seconds});
  }
  if (std::isfinite(lone.line.alpha_s)) {
    const bool is_last = lone.most_bytes == std::numeric_limits<Bytes>::max();
    bounds.push_back({{-1, 0}, -lone.line.alpha_s});
    if (is_last) bounds.push_back({{0, -1}, -most_of_lone_message * lone.line.beta_s_per_byte});
    else
      bounds.push_back(
          {{-1, -static_cast<double>(lone.most_bytes)}, -most_of_lone_message * lone.line.at(lone.most_bytes)});
  }
  const auto x = solve_within_bounds(wanted, bounds);
  return {std::clamp(x[0], 0.0, lone.line.alpha_s), std::max(0.0, x[1])};  // bounds hold up to rounding
}

}  // namespace

double fit_link_rate(std::span<const SentSteps> protocols) {
  constexpr double hidden_posting_ratio = 2;
  double rate = 0;
  for (const auto& steps : protocols) {
    const auto& large = steps.back();
    if (large.step_s > hidden_posting_ratio * large.posting_s)
      rate = std::max(rate, static_cast<double>(large.bytes) / large.step_s);
  }
  return rate > 0 ? rate : std::numeric_limits<double>::infinity();
}

Line fit_sending(const SentSteps& steps, double link_rate_bytes_per_s, const LoneMessages& lone) {
  const auto is_explained = [&](const SentStep& s) {
    return s.step_s <= same_time_ratio * std::max(s.posting_s, static_cast<double>(s.bytes) / link_rate_bytes_per_s);
  };
  const auto& [small, large] = steps;
  if (is_explained(small) && is_explained(large))
    return through({small.bytes, small.posting_s}, {large.bytes, large.posting_s}, lone);
  return through({small.bytes, small.step_s}, {large.bytes, large.step_s}, lone);
}

Seconds fit_taking_beside_sending(const CrossedStep& step) {
  if (step.step_s <= same_time_ratio * std::max(step.sending_s, step.moving_s)) return 0;
  return std::max(0.0, std::min(step.step_s, step.once_s) - step.sending_s);
}

Line fit_taking_beside_sending(const std::array<CrossedStep, 2>& steps, const LoneMessages& lone) {
  const auto& [small, large] = steps;
  const Seconds least = fit_taking_beside_sending(small), most = fit_taking_beside_sending(large);
  if (most <= least) return {std::min(least, lone.line.alpha_s), 0};
  return through({small.bytes, least}, {large.bytes, most}, lone);
}

Line fit_taking(const TakenSteps& steps, Seconds known_s, const LoneMessages& lone) {
  const auto [small, large] = steps;
  const auto is_explained = [](const TakenStep& s, Seconds taking) {
    return s.step_s <= same_time_ratio * (s.explained_s + taking);
  };
  const Seconds known = std::min(known_s, same_time_ratio * small.step_s);
  const Seconds taking = std::min(is_explained(small, known) ? known : small.step_s, lone.line.alpha_s);
  if (is_explained(large, taking)) return {taking, 0};
  return through({small.bytes, taking}, {large.bytes, large.step_s}, lone);
}

}  // namespace commpass
