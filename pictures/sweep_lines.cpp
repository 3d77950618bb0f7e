#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

struct Series {
  std::string name;
  Look look;
  std::vector<std::pair<double, Seconds>> points;
  std::vector<std::string> tips;
};

/// Gives strategies of one route different looks. With more lines than looks, some are equal.
void make_looks_unique(std::vector<Series>& series) {
  for (auto one = series.begin(); one != series.end(); ++one) {
    auto& look = one->look;
    const auto is_taken = [&] {
      return std::any_of(series.begin(), one, [&](const Series& other) { return other.look == look; });
    };
    for (int tries = 0; tries < look_colors * look_overlays && is_taken(); ++tries)
      look = {(look.color + 1) % look_colors, (look.overlay + 1) % look_overlays};
  }
}

std::vector<Series> series_of(const SweepReport& report) {
  std::vector<Series> result;
  const auto& key = report.keys[0];
  if (report.named.empty()) result.push_back({"chosen", {1, 0}, {}, {}});
  for (const auto& name : report.named) result.push_back({name, look_of_route(name), {}, {}});
  result.push_back({"standard", {0, 1}, {}, {}});
  for (const auto& point : report.points) {
    const auto add = [&](Series& series, const std::string& strategy, Seconds seconds) {
      series.points.emplace_back(point.values[0], seconds);
      series.tips.push_back(fmt::format("{} {}: {}, {}", people_key(key), print_value(key, point.values[0]), strategy,
                                        format_seconds(seconds)));
    };
    if (report.named.empty() && point.chosen)
      add(result[0], to_string(as_run(*point.chosen)), point.chosen->cost.seconds);
    for (std::size_t i = 0; i < point.named.size(); ++i)
      if (point.named[i]) add(result[i], report.named[i], *point.named[i]);
    if (point.standard_s) add(result.back(), "standard", *point.standard_s);
  }
  if (std::ranges::find(report.named, "standard") != report.named.end()) result.pop_back();
  std::erase_if(result, [](const Series& series) { return series.points.empty(); });
  make_looks_unique(result);
  return result;
}

}  // namespace

Picture draw_sweep_lines(const SweepReport& report, const std::string& id) {
  if (report.keys.size() != 1)
    throw InputError("--picture sweep", "it needs one key", "use for example --sweep bytes=8..64KiB");
  const auto& key = report.keys[0];
  const auto series = series_of(report);
  ValueRange times;
  for (const auto& one : series)
    for (const auto& [x, seconds] : one.points)
      if (seconds > 0) times.add(seconds);
  if (times.max <= 0) throw InputError("--picture sweep", "no value has a price", "sweep other values");

  constexpr double width = picture_width, left = 84, right = 24, height = 320;
  std::string listed;
  for (const auto& one : series)
    append(listed, " {} from {} to {};", one.name, format_seconds(one.points.front().second),
           format_seconds(one.points.back().second));
  Svg svg(id, "Predicted time over " + people_key(key),
          fmt::format("The predicted time of one exchange over {}:{}", people_key(key), listed));
  double top = svg.head(inputs_of(report.context) + ".");
  Legend legend;
  for (const auto& one : series) legend.emplace_back(one.look, one.name);
  top = svg.legend(left, top, width - left - right, legend, true) + 18;

  const bool is_counted = key == "dims" || key == "memory";  // values without others between them
  const Axis across{is_counted ? Scale::linear : Scale::log2, report.points.front().values[0],
                    report.points.back().values[0], left + 8, width - right - 8};
  constexpr double margin = 1.12;
  const Axis up{Scale::log10, times.min / margin, times.max * margin, top + height, top};
  draw_left_axis(svg, up, left, width - right, time_label, 9);
  constexpr int ticks_max = 12;
  draw_bottom_axis(
      svg, across, top + height, top, people_key(key), [&](double v) { return print_value(key, v); },
      is_counted ? static_cast<int>(std::clamp(across.last - across.first, 1.0, double{ticks_max})) : ticks_max);
  // A choice has its name where it begins.
  const SweepPoint* before = nullptr;
  double free_from = 0;
  for (const auto& point : report.points) {
    if (!point.chosen) continue;
    const auto name = route_and_path(point.chosen->strategy);
    const bool changes = !before || route_and_path(before->chosen->strategy) != name;
    const auto at = [&](const SweepPoint& of) { return across.at(of.values[0]); };
    const auto middle = before ? (at(*before) + at(point)) / 2 : 0;
    if (changes && before)
      svg.path(fmt::format("M{0} {1} L{0} {2}", svg_number(middle), svg_number(top - 12), svg_number(top + height)),
               "axis d4", "here the choice changes");
    const auto begin = before ? middle + 3 : left;
    if (changes && begin >= free_from && begin + text_width(name, 10) < width) {
      svg.text(begin, top - 4, name, "dim", Anchor::start, 10);
      free_from = begin + text_width(name, 10) + 4;
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
  return std::move(svg).finish(top + height + 48, document_of(report), 2);
}

}  // namespace commpass
