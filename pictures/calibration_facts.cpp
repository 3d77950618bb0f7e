#include "pictures/calibration_facts.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "model/base/json.hpp"

namespace commpass {

namespace {

Json provenance_of(const Profile& profile) { return Json::parse_or_null(profile.provenance_json); }

/// @return is it an interval of numbers of 0 or more?
bool read_interval(const Json& entry, const char* key, double (&bounds)[2]) {
  const auto interval = entry.interval(key);
  if (!interval) return false;
  std::tie(bounds[0], bounds[1]) = *interval;
  return bounds[0] >= 0 && bounds[1] >= bounds[0];
}

/// A time at a size or a number of pairs.
struct TimedRow {
  double at, seconds, low_s, high_s;
};

/// The rows of columns of numbers, with times that can be drawn.
std::vector<TimedRow> timed_rows(const Json& columns, const char* key) {
  constexpr double min_s = 1e-12, max_s = 1e6;
  const auto &at = columns.list(key), &seconds = columns.list("seconds"), &low = columns.list("low_s"),
             &high = columns.list("high_s");
  std::vector<TimedRow> rows;
  for (std::size_t i = 0; i < std::min({at.size(), seconds.size(), low.size(), high.size()}); ++i) {
    if (!at[i].is_number() || !seconds[i].is_number() || !low[i].is_number() || !high[i].is_number()) continue;
    const TimedRow row{at[i].get<double>(), seconds[i].get<double>(), low[i].get<double>(), high[i].get<double>()};
    if (row.low_s >= min_s && row.seconds >= row.low_s && row.high_s >= row.seconds && row.high_s <= max_s)
      rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::vector<FittedInterval> fitted_intervals(const Profile& profile) {
  constexpr double sizes_max = std::numeric_limits<int>::max();
  std::vector<FittedInterval> result;
  const auto provenance = provenance_of(profile);
  for (const auto& entry : provenance.list("fits")) {
    FittedInterval fit{entry.text("level"), entry.text("protocol"),
                       static_cast<int>(std::clamp(entry.number_or_0("sizes"), 0.0, sizes_max)),
                       entry.number_or_0("median_relative_error")};
    if (read_interval(entry, "alpha_interval_s", fit.alpha_s) &&
        read_interval(entry, "beta_interval_s_per_byte", fit.beta_s_per_byte))
      result.push_back(std::move(fit));
  }
  return result;
}

std::vector<TimedMessage> timed_messages(const Profile& profile) {
  std::vector<TimedMessage> result;
  const auto provenance = provenance_of(profile);
  const auto* const messages = provenance.find("messages");
  if (!messages || !messages->is_object()) return result;
  for (const auto& [level, columns] : messages->items())
    for (const auto& row : timed_rows(columns, "bytes"))
      if (row.at > 0) result.push_back({level, row.at, row.seconds, row.low_s, row.high_s});
  std::ranges::stable_sort(result, {}, &TimedMessage::level);  // independent of the order in the file
  return result;
}

std::vector<TimedSharing> timed_sharing(const Profile& profile) {
  constexpr double bytes_min = 1, bytes_max = 0x1p62, pairs_max = 1 << 30;
  std::vector<TimedSharing> result;
  const auto provenance = provenance_of(profile);
  for (const auto& entry : provenance.list("sharing")) {
    TimedSharing sharing{entry.text("parameter"), entry.number_or_0("bytes"), {}};
    if (!(sharing.bytes >= bytes_min && sharing.bytes < bytes_max)) continue;
    for (const auto& row : timed_rows(entry, "pairs"))
      if (row.at >= 1 && row.at < pairs_max)
        sharing.points.push_back({static_cast<int>(row.at), row.seconds, row.low_s, row.high_s});
    if (!sharing.points.empty()) result.push_back(std::move(sharing));
  }
  return result;
}

std::vector<MeasuredPrice> held_out_prices(const Profile& profile) {
  std::vector<MeasuredPrice> result;
  const auto provenance = provenance_of(profile);
  for (const auto& entry : provenance.list("held_out")) {
    MeasuredPrice price{entry.text("strategy"), entry.number_or_0("predicted_s"), entry.number_or_0("measured_s"),
                        entry.text("exchange")};
    if (price.can_be_drawn()) result.push_back(std::move(price));
  }
  return result;
}

}  // namespace commpass
