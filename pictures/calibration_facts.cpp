#include "pictures/calibration_facts.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace commpass {

namespace {

using FactsJson = nlohmann::json;

FactsJson list_of(const Profile& profile, const char* key) {
  const auto provenance = FactsJson::parse(profile.provenance_json, nullptr, false);
  if (!provenance.is_object() || !provenance.contains(key) || !provenance[key].is_array()) return FactsJson::array();
  return provenance[key];
}

std::string text_of(const FactsJson& entry, const char* key) {
  return entry.is_object() && entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : "";
}

double number_of(const FactsJson& entry, const char* key) {
  return entry.is_object() && entry.contains(key) && entry[key].is_number() ? entry[key].get<double>() : 0;
}

/// @return is it there?
bool read_interval(const FactsJson& entry, const char* key, double (&bounds)[2]) {
  if (!entry.is_object() || !entry.contains(key)) return false;
  const auto& pair = entry[key];
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) return false;
  bounds[0] = pair[0];
  bounds[1] = pair[1];
  return bounds[0] >= 0 && bounds[1] >= bounds[0];
}

}  // namespace

std::vector<FittedInterval> fitted_intervals(const Profile& profile) {
  constexpr double most_sizes = std::numeric_limits<int>::max();
  std::vector<FittedInterval> result;
  for (const auto& entry : list_of(profile, "fits")) {
    FittedInterval fit{text_of(entry, "locality"), text_of(entry, "protocol"),
                       static_cast<int>(std::clamp(number_of(entry, "sizes"), 0.0, most_sizes)),
                       number_of(entry, "median_relative_error")};
    if (read_interval(entry, "alpha_interval_s", fit.alpha_s) &&
        read_interval(entry, "beta_interval_s_per_byte", fit.beta_s_per_byte))
      result.push_back(std::move(fit));
  }
  return result;
}

std::vector<TimedMessage> timed_messages(const Profile& profile) {
  std::vector<TimedMessage> result;
  const auto provenance = FactsJson::parse(profile.provenance_json, nullptr, false);
  if (!provenance.is_object() || !provenance.contains("messages") || !provenance["messages"].is_object()) return result;
  for (const auto& [locality, columns] : provenance["messages"].items()) {
    const auto column = [&, &columns = columns](const char* key) {
      return columns.is_object() && columns.contains(key) && columns[key].is_array() ? columns[key]
                                                                                     : FactsJson::array();
    };
    const auto bytes = column("bytes"), seconds = column("seconds"), low = column("low_s"), high = column("high_s");
    for (std::size_t i = 0; i < std::min({bytes.size(), seconds.size(), low.size(), high.size()}); ++i) {
      if (!bytes[i].is_number() || !seconds[i].is_number() || !low[i].is_number() || !high[i].is_number()) continue;
      const TimedMessage message{locality, bytes[i], seconds[i], low[i], high[i]};
      if (message.bytes > 0 && message.low_s > 0 && message.seconds >= message.low_s &&
          message.high_s >= message.seconds)
        result.push_back(message);
    }
  }
  return result;
}

std::vector<MeasuredPrice> held_out_prices(const Profile& profile) {
  std::vector<MeasuredPrice> result;
  for (const auto& entry : list_of(profile, "held_out")) {
    MeasuredPrice price{text_of(entry, "strategy"), number_of(entry, "predicted_s"), number_of(entry, "measured_s"),
                        text_of(entry, "exchange")};
    if (price.can_be_drawn()) result.push_back(std::move(price));
  }
  return result;
}

}  // namespace commpass
