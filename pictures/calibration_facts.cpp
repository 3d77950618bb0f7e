#include "pictures/calibration_facts.hpp"

#include <algorithm>
#include <limits>

#include "model/base/json.hpp"

namespace commpass {

namespace {

Json list_of(const Profile& profile, const char* key) {
  const auto provenance = Json::parse_or_null(profile.provenance_json);
  if (!provenance.is_object() || !provenance.contains(key) || !provenance[key].is_array()) return Json::array();
  return provenance[key];
}

std::string text_of(const Json& entry, const char* key) {
  return entry.is_object() && entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : "";
}

double number_of(const Json& entry, const char* key) {
  return entry.is_object() && entry.contains(key) && entry[key].is_number() ? entry[key].get<double>() : 0;
}

/// @return is it there?
bool read_interval(const Json& entry, const char* key, double (&bounds)[2]) {
  if (!entry.is_object() || !entry.contains(key)) return false;
  const auto& pair = entry[key];
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_number()) return false;
  bounds[0] = pair[0].get<double>();
  bounds[1] = pair[1].get<double>();
  return bounds[0] >= 0 && bounds[1] >= bounds[0];
}

/// A time, and what it is of.
struct TimedRow {
  double of, seconds, low_s, high_s;
};

/// Columns of numbers, as rows: those that have an interval, and times that can be drawn.
std::vector<TimedRow> timed_rows(const Json& columns, const char* of_what) {
  const auto column = [&](const char* key) {
    return columns.is_object() && columns.contains(key) && columns[key].is_array() ? columns[key] : Json::array();
  };
  constexpr double least_s = 1e-12, most_s = 1e6;
  const auto of = column(of_what), seconds = column("seconds"), low = column("low_s"), high = column("high_s");
  std::vector<TimedRow> rows;
  for (std::size_t i = 0; i < std::min({of.size(), seconds.size(), low.size(), high.size()}); ++i) {
    if (!of[i].is_number() || !seconds[i].is_number() || !low[i].is_number() || !high[i].is_number()) continue;
    const TimedRow row{of[i].get<double>(), seconds[i].get<double>(), low[i].get<double>(), high[i].get<double>()};
    if (row.low_s >= least_s && row.seconds >= row.low_s && row.high_s >= row.seconds && row.high_s <= most_s)
      rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<FittedInterval> fitted_intervals(const Profile& profile) {
  constexpr double most_sizes = std::numeric_limits<int>::max();
  std::vector<FittedInterval> result;
  for (const auto& entry : list_of(profile, "fits")) {
    FittedInterval fit{text_of(entry, "level"), text_of(entry, "protocol"),
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
  const auto provenance = Json::parse_or_null(profile.provenance_json);
  if (!provenance.is_object() || !provenance.contains("messages") || !provenance["messages"].is_object()) return result;
  for (const auto& [level, columns] : provenance["messages"].items())
    for (const auto& row : timed_rows(columns, "bytes"))
      if (row.of > 0) result.push_back({level, row.of, row.seconds, row.low_s, row.high_s});
  std::ranges::stable_sort(result, {}, &TimedMessage::level);  // independent of the order in the file
  return result;
}

std::vector<TimedSharing> timed_sharing(const Profile& profile) {
  constexpr double least_bytes = 1, most_bytes = 0x1p62, most_pairs = 1 << 30;
  std::vector<TimedSharing> result;
  for (const auto& entry : list_of(profile, "sharing")) {
    TimedSharing sharing{text_of(entry, "parameter"), number_of(entry, "bytes"), {}};
    if (!(sharing.bytes >= least_bytes && sharing.bytes < most_bytes)) continue;
    for (const auto& row : timed_rows(entry, "pairs"))
      if (row.of >= 1 && row.of < most_pairs)
        sharing.points.push_back({static_cast<int>(row.of), row.seconds, row.low_s, row.high_s});
    if (!sharing.points.empty()) result.push_back(std::move(sharing));
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
