#include "calibrate/attribution.hpp"

#include <algorithm>
#include <limits>

namespace commpass {

namespace {

constexpr double alike = 1.1;  // times that differ by less are one

/// Through two points; a falling line is level.
Line through(Bytes small_bytes, Seconds small, Bytes large_bytes, Seconds large) {
  Line line;
  if (large_bytes > small_bytes)
    line.beta_s_per_byte = std::max(0.0, (large - small) / static_cast<double>(large_bytes - small_bytes));
  line.alpha_s = std::max(0.0, small - line.beta_s_per_byte * static_cast<double>(small_bytes));
  return line;
}

}  // namespace

double fit_link_rate(std::span<const SentSteps> protocols) {
  constexpr double much = 2;
  double rate = 0;
  for (const auto& steps : protocols) {
    const auto& large = steps.back();
    if (large.step_s > much * large.posting_s) rate = std::max(rate, static_cast<double>(large.bytes) / large.step_s);
  }
  return rate > 0 ? rate : std::numeric_limits<double>::infinity();
}

Line fit_sending(const SentSteps& steps, double link_rate_bytes_per_s) {
  const auto is_explained = [&](const SentStep& s) {
    return s.step_s <= alike * std::max(s.posting_s, static_cast<double>(s.bytes) / link_rate_bytes_per_s);
  };
  const auto& [small, large] = steps;
  if (is_explained(small) && is_explained(large))
    return through(small.bytes, small.posting_s, large.bytes, large.posting_s);
  return through(small.bytes, small.step_s, large.bytes, large.step_s);
}

Line fit_taking(const TakenSteps& steps, Seconds smaller_s) {
  const auto [small, large] = steps;
  const auto is_explained = [](const TakenStep& s, Seconds taking) {
    return s.step_s <= alike * (s.explained_s + taking);
  };
  const Seconds known = std::min(smaller_s, alike * small.step_s);
  const Seconds taking = is_explained(small, known) ? known : small.step_s;
  if (is_explained(large, taking)) return {taking, 0};
  return through(small.bytes, taking, large.bytes, large.step_s);
}

}  // namespace commpass
