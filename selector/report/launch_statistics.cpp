#include "selector/report/launch_statistics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/json.hpp"
#include "model/machine/miss.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

/// The quantile of Student's t distribution for a two-sided interval of 95 %.
double student_quantile(std::size_t degrees) {
  constexpr double tabulated[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                  2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
  // Beyond the table 1.96 + 2.4/n is within 0.003.
  constexpr double normal_quantile = 1.96, correction = 2.4;
  return degrees <= std::size(tabulated) ? tabulated[degrees - 1]
                                         : normal_quantile + correction / static_cast<double>(degrees);
}

Interval prediction_interval(std::vector<double> values) {
  const bool is_logarithmic = std::ranges::min(values) > 0;
  if (is_logarithmic) std::ranges::transform(values, values.begin(), [](double value) { return std::log(value); });
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half = student_quantile(values.size() - 1) * std::sqrt(squares / (count - 1) * (1 + 1 / count));
  const auto bound = [&](double value) { return is_logarithmic ? std::exp(value) : std::max(0.0, value); };
  return {bound(mean - half), bound(mean + half)};
}

using ExchangeKey = std::pair<std::string, std::string>;  // exchange and strategy

struct HeldOutTimes {
  double predicted_s, measured_s;
};

/// Users may edit a provenance, so entries of other types are skipped.
std::map<ExchangeKey, HeldOutTimes> held_out_of(const Json& provenance) {
  std::map<ExchangeKey, HeldOutTimes> times;
  for (const auto& each : provenance.list("held_out")) {
    const auto exchange = each.optional<std::string>("exchange"), strategy = each.optional<std::string>("strategy");
    const HeldOutTimes found{each.number_or_0("predicted_s"), each.number_or_0("measured_s")};
    if (exchange && strategy && found.predicted_s > 0 && found.measured_s > 0) times[{*exchange, *strategy}] = found;
  }
  return times;
}

}  // namespace

std::vector<LaunchInterval> intervals_over(const Channel& kept, std::span<const Channel* const> launches) {
  constexpr Bytes last_size_ratio = 16;  // the last protocol has no end: up to this multiple of its smallest size
  std::vector<LaunchInterval> intervals;
  Bytes smallest = 0;
  for (const auto& protocol : kept.protocols) {
    const bool is_last = &protocol == &kept.protocols.back();
    const Bytes largest =
        is_last ? std::max<Bytes>(1, smallest) * last_size_ratio : std::max(protocol.max_bytes, smallest + 1);
    std::vector<double> alphas, betas;
    for (const auto* launch : launches) {
      const auto at = [&](Bytes bytes) { return launch->protocol(bytes).alone_seconds(static_cast<double>(bytes)); };
      betas.push_back((at(largest) - at(smallest)) / static_cast<double>(largest - smallest));
      alphas.push_back(at(smallest) - betas.back() * static_cast<double>(smallest));
    }
    intervals.push_back({protocol.name, prediction_interval(std::move(alphas)), prediction_interval(std::move(betas))});
    smallest = largest + 1;
  }
  return intervals;
}

std::map<std::string, Interval> intervals_of(const Profile& profile) {
  std::map<std::string, Interval> intervals;
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

std::optional<double> miss_between_launches(std::span<const Json> provenances) {
  std::vector<std::map<ExchangeKey, HeldOutTimes>> launches;
  for (const auto& each : provenances) launches.push_back(held_out_of(each));
  std::vector<double> misses;
  for (std::size_t i = 0; i < launches.size(); ++i)
    for (std::size_t k = 0; k < launches.size(); ++k) {
      if (i == k || provenances[i].value("layout", Json()) != provenances[k].value("layout", Json())) continue;
      for (const auto& [key, own] : launches[i])
        if (const auto other = launches[k].find(key); other != launches[k].end())
          misses.push_back(miss_between(own.predicted_s, other->second.measured_s));
    }
  return misses.empty() ? std::nullopt : std::optional(median(std::move(misses)));
}

}  // namespace commpass
