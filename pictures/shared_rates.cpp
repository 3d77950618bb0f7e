#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/calibration_facts.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

constexpr double default_bytes = 1 << 20;  // message size of calibrate
constexpr int default_pairs = 64;          // end of lines without measured points

/// A rate that pairs of ranks share.
struct SharedRate {
  std::string parameter, name;
  Level level;
  Look look;
  double rate_bytes_per_s;  ///< infinity: unknown, or not reached
  double bytes;
  const Channel* channel;
  std::vector<TimedPairs> timed;

  /// Into a node, other rates limit the traffic first, so an unknown rate is not an infinite one.
  bool has_line() const { return std::isfinite(rate_bytes_per_s) || !parameter.ends_with("down_rate_bytes_per_s"); }
  Seconds line_seconds(double pairs) const {
    const auto& protocol = channel->protocol(static_cast<Bytes>(bytes));
    return std::max(protocol.alone_seconds(bytes), protocol.alpha_s + pairs * bytes / rate_bytes_per_s);
  }
  double rate_of(Seconds seconds) const { return bytes / seconds; }
  bool can_be_drawn() const {
    constexpr Seconds min_s = 1e-12, max_s = 1e9;
    int pairs_max = default_pairs;
    for (const auto& point : timed) pairs_max = std::max(pairs_max, point.pairs);
    return line_seconds(1) >= min_s && line_seconds(pairs_max) <= max_s;
  }
  double residual(const TimedPairs& point) const { return point.seconds / line_seconds(point.pairs) - 1; }
};

std::vector<SharedRate> shared_rates_of(const Profile& profile) {
  const auto& machine = profile.machine;
  constexpr int green = 3, blue = 1, purple = 6;
  std::vector<SharedRate> all;
  const auto add = [&](const std::string& parameter, const std::string& name, Level level, int color, double rate) {
    const int overlay = static_cast<int>(std::ssize(all)) % look_overlays;
    all.push_back({parameter, name, level, {color, overlay}, rate, 0, nullptr, {}});
  };
  const auto node = machine.node_level(), outermost = machine.outermost();
  for (Level level = 0; level <= node; ++level) {
    const auto& name = machine.name_of(level);
    const auto* const channel = machine.host.find(level);
    add(fmt::format("levels.{}.host.aggregate_rate_bytes_per_s", name),
        level == 0 ? "within a " + name : fmt::format("{} of a {}", place_of(machine, level), name), level,
        (green + level) % look_colors,
        channel ? channel->aggregate_rate_bytes_per_s : std::numeric_limits<double>::infinity());
  }
  const auto of_node = fmt::format("levels.{}.", machine.name_of(node));
  add(of_node + "up_rate_bytes_per_s", "out of a node", outermost, blue, machine.levels[node].up_rate_bytes_per_s);
  add(of_node + "down_rate_bytes_per_s", "into a node", outermost, purple, machine.levels[node].down_rate_bytes_per_s);
  std::vector<SharedRate> known;
  const auto sweeps = timed_sharing(profile);
  for (auto& one : all) {
    if (!machine.host.has(one.level)) continue;
    const auto sweep = std::ranges::find(sweeps, one.parameter, &TimedSharing::parameter);
    if (sweep == sweeps.end() && !std::isfinite(one.rate_bytes_per_s)) continue;
    one.channel = machine.host.find(one.level);
    one.bytes = sweep == sweeps.end() ? default_bytes : sweep->bytes;
    if (sweep != sweeps.end()) one.timed = sweep->points;
    if (one.can_be_drawn()) known.push_back(std::move(one));
  }
  return known;
}

/// Numbers of pairs from 1 to `max` along a line, with the one at which it bends.
std::vector<double> pairs_along(const SharedRate& rate, double max) {
  const auto& protocol = rate.channel->protocol(static_cast<Bytes>(rate.bytes));
  const double bend = (rate.line_seconds(1) - protocol.alpha_s) * rate.rate_bytes_per_s / rate.bytes;
  std::vector<double> pairs;
  constexpr double step = 1.25;
  for (double at = 1; at < max; at *= step) pairs.push_back(at);
  if (bend > 1 && bend < max) pairs.push_back(bend);
  pairs.push_back(max);
  std::ranges::sort(pairs);
  return pairs;
}

std::string rate_text(double rate) { return format_bytes(rate) + "/s"; }

std::string describe(const SharedRate& rate) {
  std::string text = fmt::format(" {}: {} for one pair", rate.name, rate_text(rate.rate_of(rate.line_seconds(1))));
  if (std::isfinite(rate.rate_bytes_per_s)) text += ", " + rate_text(rate.rate_bytes_per_s) + " for all together";
  else text += rate.has_line() ? ", no limit of all together is known" : ", no limit of its own is known";
  if (rate.timed.empty()) return text + ".";
  double worst = 0;
  for (const auto& point : rate.timed) worst = std::max(worst, std::abs(rate.residual(point)));
  return text + (rate.has_line() ? fmt::format("; of {} measured points the furthest is {:.0f} % off the line.",
                                               rate.timed.size(), 100 * worst)
                                 : fmt::format("; {} measured points.", rate.timed.size()));
}

void draw_timed(Svg& svg, const SharedRate& rate, const TimedPairs& point, const Axis& across, const Axis& up) {
  const double x = across.at(point.pairs);
  const auto at = [&](Seconds seconds) { return up.clamped(rate.rate_of(seconds)); };
  svg.line(x, at(point.low_s), x, at(point.high_s), "bold");
  auto tip = fmt::format("{}, {} pair{}: {} each, measured ({} to {})", rate.name, point.pairs,
                         point.pairs == 1 ? "" : "s", rate_text(rate.rate_of(point.seconds)),
                         rate_text(rate.rate_of(point.high_s)), rate_text(rate.rate_of(point.low_s)));
  if (rate.has_line()) tip += fmt::format("; its time is {:+.1f} % of the line's", 100 * rate.residual(point));
  svg.point(x, at(point.seconds), rate.look, tip);
}

Document numbers_of(const Profile& profile, const std::vector<SharedRate>& rates, double pairs_max) {
  Table list{"rates", columns_of("parameter locality bytes rate_bytes_per_s alone_s measured")};
  list.forms = Forms::json;
  auto lines = csv_table("parameter bytes kind pairs seconds rate_of_a_pair_bytes_per_s");
  for (const auto& rate : rates) {
    const auto add = [&](const char* kind, double pairs, Seconds seconds) {
      lines.add({rate.parameter, rate.bytes, kind, pairs, seconds, rate.rate_of(seconds)});
    };
    if (rate.has_line())
      for (const auto pairs : pairs_along(rate, pairs_max)) add("line", pairs, rate.line_seconds(pairs));
    auto timed = Json::array();
    for (const auto& point : rate.timed) {
      add("measured", point.pairs, point.seconds);
      timed.push_back(
          {{"pairs", point.pairs}, {"seconds", point.seconds}, {"interval_s", {point.low_s, point.high_s}}});
      if (rate.has_line())
        timed.back().update({{"line_s", rate.line_seconds(point.pairs)}, {"residual", rate.residual(point)}});
    }
    list.add({rate.parameter,
              profile.machine.name_of(rate.level),
              rate.bytes,
              {std::isfinite(rate.rate_bytes_per_s) ? Json(rate.rate_bytes_per_s) : Json(), ""},
              rate.line_seconds(1),
              timed});
  }
  Document numbers;
  numbers.facts({{"schema_version", 1}, {"profile", profile.machine.name}});
  numbers.add(std::move(list));
  numbers.add(std::move(lines));
  return numbers;
}

int drawn_pairs_of(const std::vector<SharedRate>& rates) {
  int max = 1;
  for (const auto& rate : rates)
    for (const auto& point : rate.timed) max = std::max(max, point.pairs);
  return max > 1 ? max : default_pairs;
}

/// An axis of all rates of a pair, with a margin.
Axis rates_upward(const std::vector<SharedRate>& rates, double pairs_max, double bottom, double top) {
  ValueRange range;
  for (const auto& rate : rates) {
    if (rate.has_line())
      for (const double pairs : {1.0, pairs_max}) range.add(rate.rate_of(rate.line_seconds(pairs)));
    for (const auto& point : rate.timed) range.add(rate.rate_of(point.seconds));
  }
  constexpr double margin = 1.3;
  return {Scale::log2, range.min / margin, range.max * margin, bottom, top};
}

}  // namespace

bool has_shared_rates(const Profile& profile) { return !shared_rates_of(profile).empty(); }

Picture draw_shared_rates(const Profile& profile, const Frame& frame) {
  const auto rates = shared_rates_of(profile);
  if (rates.empty())
    throw InputError("profile " + profile.machine.name, "it has no rate that ranks share",
                     "use a profile that 'commpass calibrate' wrote of at least four ranks");
  const bool is_measured = std::ranges::any_of(rates, [](const SharedRate& rate) { return !rate.timed.empty(); });
  const auto pairs_max = static_cast<double>(drawn_pairs_of(rates));
  std::string listed;
  for (const auto& rate : rates) listed += describe(rate);
  constexpr double left = 92, right = 24, height = 320;
  const double width = frame.width - left - right;
  Svg svg(frame, "What active pairs of ranks get: " + profile.machine.name,
          "The rate of each pair over how many are active at once, as the max-rate line says." + listed);
  double top = svg.head(
      std::string("Each pair sends large messages one way. A line is flat as long as a pair is as fast as alone, and "
                  "falls where all together reach the rate they share.") +
      (is_measured ? " Marks: measured, with intervals." : " The profile keeps no measured points."));
  Legend legend;
  for (const auto& rate : rates)
    legend.emplace_back(rate.look, fmt::format("{}, {}", rate.name, print_bytes(static_cast<Bytes>(rate.bytes))));
  top = svg.legend(left, top, width, legend, true) + 6;
  constexpr double below = 0.9, above = 1.1;  // margins, so that no mark is on the frame
  const Axis across{Scale::log2, below, pairs_max * above, left, left + width};
  const auto up = rates_upward(rates, pairs_max, top + height, top);
  draw_left_axis(svg, up, left, left + width, rate_text, 9);
  draw_bottom_axis(
      svg, across, top + height, top, "pairs of ranks that are active", [](double v) { return fmt::format("{:g}", v); },
      frame.ticks(10));
  svg.upward_text(14, top + height / 2, "rate of each pair");
  for (const auto& rate : rates) {
    std::vector<std::pair<double, double>> points;
    if (rate.has_line())
      for (const auto pairs : pairs_along(rate, pairs_max))
        points.emplace_back(across.at(pairs), up.at(rate.rate_of(rate.line_seconds(pairs))));
    if (!points.empty()) svg.curve(points, rate.look);
  }
  for (const auto& rate : rates)
    for (const auto& point : rate.timed) draw_timed(svg, rate, point, across, up);
  return std::move(svg).finish(top + height + 48, numbers_of(profile, rates, pairs_max));
}

}  // namespace commpass
