#include "pictures/sweep_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/route_look.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

struct Series {
  std::string name;
  Look look;
  std::vector<std::pair<double, Seconds>> points;
  std::vector<std::string> tips;
};

/// Other looks where two strategies are of one route. Of more lines than there are looks some look alike.
void tell_apart(std::vector<Series>& series) {
  for (auto one = series.begin(); one != series.end(); ++one) {
    auto& look = one->look;
    const auto is_taken = [&] {
      return std::any_of(series.begin(), one, [&](const Series& other) {
        return other.look.color == look.color && other.look.overlay == look.overlay;
      });
    };
    for (int tries = 0; tries < look_colors * look_overlays && is_taken(); ++tries)
      look = {(look.color + 1) % look_colors, (look.overlay + 1) % look_overlays};
  }
}

std::vector<Series> series_of(const SweepReport& report) {
  std::vector<Series> result;
  const auto& key = report.keys[0];
  if (report.named.empty()) {
    auto& winner = result.emplace_back();
    winner.name = "chosen";
    winner.look = {1, 0};
  }
  for (const auto& name : report.named) {
    auto& series = result.emplace_back();
    series.name = name;
    series.look = look_of_route(name);
  }
  auto& standard = result.emplace_back();
  standard.name = "standard";
  standard.look = {0, 1};
  for (const auto& point : report.points) {
    const auto x = static_cast<double>(point.values[0]);
    const auto at = fmt::format("{} {}", key, print_value(key, point.values[0]));
    if (report.named.empty() && point.chosen) {
      result[0].points.emplace_back(x, point.chosen->cost.seconds);
      result[0].tips.push_back(
          fmt::format("{}: {}, {}", at, to_string(as_run(*point.chosen)), format_seconds(point.chosen->cost.seconds)));
    }
    for (std::size_t i = 0; i < point.named.size(); ++i)
      if (point.named[i]) {
        result[i].points.emplace_back(x, *point.named[i]);
        result[i].tips.push_back(fmt::format("{}: {}, {}", at, report.named[i], format_seconds(*point.named[i])));
      }
    if (point.standard_s) {
      result.back().points.emplace_back(x, *point.standard_s);
      result.back().tips.push_back(fmt::format("{}: standard, {}", at, format_seconds(*point.standard_s)));
    }
  }
  if (std::ranges::find(report.named, "standard") != report.named.end()) result.pop_back();
  std::erase_if(result, [](const Series& series) { return series.points.empty(); });
  tell_apart(result);
  return result;
}

}  // namespace

Picture draw_sweep_lines(const SweepReport& report, const std::string& id) {
  if (report.keys.size() != 1)
    throw InputError("--picture sweep", "it needs one key", "use for example --sweep bytes=8..64KiB");
  const auto& key = report.keys[0];
  const auto series = series_of(report);
  Seconds least = std::numeric_limits<Seconds>::infinity(), most = 0;
  for (const auto& one : series)
    for (const auto& [x, seconds] : one.points)
      if (seconds > 0) {
        least = std::min(least, seconds);
        most = std::max(most, seconds);
      }
  if (most <= 0) throw InputError("--picture sweep", "no value has a price", "sweep other values");

  constexpr double width = 820, left = 84, right = 24, height = 320;
  std::string context;
  for (const auto& [name, value] : report.context)
    if (name == "profile" || name == "layout" || name == "pattern") context += (context.empty() ? "" : "; ") + value;
  std::string listed;
  for (const auto& one : series)
    listed += fmt::format("{} {} from {} to {};", listed.empty() ? "" : " ", one.name,
                          format_seconds(one.points.front().second), format_seconds(one.points.back().second));
  Svg svg(id, "Predicted time over " + key, fmt::format("The predicted time of one exchange over {}: {}", key, listed),
          width);
  double top = svg.paragraph(16, svg.heading() + 6, context + ".", width - 32, "dim", 12);
  std::vector<std::pair<Look, std::string>> legend;
  for (const auto& one : series) legend.emplace_back(one.look, one.name);
  top = svg.legend(left, top, width - left - right, legend, true) + 18;

  const bool is_counted = key == "dims" || key == "memory";  // one by one: there is nothing between two of them
  const Axis across{is_counted ? Scale::linear : Scale::log2, static_cast<double>(report.points.front().values[0]),
                    static_cast<double>(report.points.back().values[0]), left + 8, width - right - 8};
  constexpr double margin = 1.12;
  const Axis up{Scale::log10, least / margin, most * margin, top + height, top};
  draw_left_axis(
      svg, up, left, width - right, [](double s) { return format_seconds(s); }, 9);
  constexpr int most_ticks = 12;
  draw_bottom_axis(
      svg, across, top + height, top, key,
      [&](double v) { return print_value(key, static_cast<std::int64_t>(v + 0.5)); },
      is_counted ? static_cast<int>(std::clamp(across.last - across.first, 1.0, double{most_ticks})) : most_ticks);
  // Where the winner changes, its name begins.
  const SweepPoint* before = nullptr;
  double free_from = 0;
  for (const auto& point : report.points) {
    if (!point.chosen) continue;
    const bool changes = !before || route_and_path(before->chosen->strategy) != route_and_path(point.chosen->strategy);
    const auto x = across.at(static_cast<double>(point.values[0]));
    if (changes && before) {
      const auto middle = (across.at(static_cast<double>(before->values[0])) + x) / 2;
      svg.path(fmt::format("M{0} {1} L{0} {2}", svg_number(middle), svg_number(top - 12), svg_number(top + height)),
               "axis d4", "here the choice changes");
    }
    if (changes) {
      const auto name = route_and_path(point.chosen->strategy);
      const auto begin = before ? (across.at(static_cast<double>(before->values[0])) + x) / 2 + 3 : left;
      if (begin >= free_from && begin + text_width(name, 10) < width) {
        svg.text(begin, top - 4, name, "dim", Anchor::start, 10);
        free_from = begin + text_width(name, 10) + 4;
      }
    }
    before = &point;
  }
  for (const auto& one : series) {
    std::vector<std::pair<double, double>> points;
    for (const auto& [x, seconds] : one.points)
      if (seconds > 0) points.emplace_back(across.at(x), up.at(seconds));
    svg.curve(points, one.look);
  }
  for (const auto& one : series)
    for (std::size_t p = 0; p < one.points.size(); ++p)
      if (one.points[p].second > 0)
        svg.point(across.at(one.points[p].first), up.at(one.points[p].second), one.look, one.tips[p]);
  return std::move(svg).finish(top + height + 48, sweep_json(report), sweep_csv(report));
}

}  // namespace commpass
