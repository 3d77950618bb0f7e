#include "selector/report/launch_intervals.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/json.hpp"

namespace commpass {

namespace {

using Interval = std::pair<double, double>;

/// Student's t for 95 % to both sides.
double student(std::size_t degrees) {
  constexpr double some[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  constexpr double many = 1.96, next = 2.4;  // 1.96 + 2.4/n is within 0.003 from there on
  return degrees <= std::size(some) ? some[degrees - 1] : many + next / static_cast<double>(degrees);
}

Interval of_one_more(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = student(values.size() - 1) * std::sqrt(squares / (count - 1) * (1 + 1 / count));
  return {mean - half, mean + half};
}

Interval interval_of(std::vector<double> values) {
  if (std::ranges::min(values) <= 0) {
    const auto [low, high] = of_one_more(values);
    return {std::max(0.0, low), std::max(0.0, high)};
  }
  for (double& value : values) value = std::log(value);
  const auto [low, high] = of_one_more(values);
  return {std::exp(low), std::exp(high)};
}

}  // namespace

std::vector<LaunchInterval> intervals_over(const Channel& kept, std::span<const Channel* const> launches) {
  constexpr Bytes widest = 16;  // times its least size: as far as the last protocol, which has no end, is looked at
  std::vector<LaunchInterval> intervals;
  Bytes least = 0;
  for (const auto& protocol : kept.protocols) {
    const bool is_last = &protocol == &kept.protocols.back();
    const Bytes most = is_last ? std::max<Bytes>(1, least) * widest : std::max(protocol.max_bytes, least + 1);
    std::vector<double> alphas, betas;
    for (const auto* launch : launches) {
      const auto at = [&](Bytes bytes) { return launch->protocol(bytes).alone_seconds(static_cast<double>(bytes)); };
      const double beta = (at(most) - at(least)) / static_cast<double>(most - least);
      betas.push_back(beta);
      alphas.push_back(at(least) - beta * static_cast<double>(least));
    }
    intervals.push_back({protocol.name, interval_of(std::move(alphas)), interval_of(std::move(betas))});
    least = most + 1;
  }
  return intervals;
}

std::map<std::string, std::pair<double, double>> intervals_of(const Profile& profile) {
  std::map<std::string, std::pair<double, double>> intervals;
  const auto provenance = Json::parse(profile.provenance_json);
  for (const auto& fit : provenance.list("fits")) {
    const auto level = fit.optional<std::string>("level"), protocol = fit.optional<std::string>("protocol");
    if (!level || !protocol) continue;
    for (const auto& [key, parameter] :
         {std::pair("alpha_interval_s", "alpha_s"), std::pair("beta_interval_s_per_byte", "beta_s_per_byte")})
      if (const auto ends = fit.interval(key))
        intervals[fmt::format("levels.{}.host.{}.{}", *level, *protocol, parameter)] = *ends;
  }
  return intervals;
}

}  // namespace commpass
