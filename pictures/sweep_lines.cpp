#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

constexpr double least_share = 0.05;  // of a time, on a logarithmic axis

struct Series {
  std::string name;
  Look look;
  std::vector<std::pair<double, Seconds>> points;
  std::vector<std::string> tips;
  std::vector<double> errors{};  ///< the part by which a predicted time may be off
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

/// The routes that are chosen somewhere, in the order of the sweep.
std::vector<std::string> chosen_routes(const SweepReport& report) {
  std::vector<std::string> routes;
  for (const auto& point : report.points)
    if (point.chosen)
      if (const auto route = route_and_path(point.chosen->strategy); std::ranges::find(routes, route) == routes.end())
        routes.push_back(route);
  return routes;
}

std::vector<Series> series_of(const SweepReport& report) {
  std::vector<Series> result;
  const auto& key = report.keys[0];
  const auto names = report.named.empty() ? chosen_routes(report) : report.named;
  for (const auto& name : names) result.push_back({name, look_of_route(name), {}, {}});
  // What programs do today, as far as it is not among these.
  for (const auto* name : {"standard", "mpi"})
    if (std::ranges::find(names, name) == names.end()) result.push_back({name, look_of_route(name), {}, {}});
  for (const auto& point : report.points) {
    const auto prices = prices_of(report, point);
    const auto is_choice = [&](const std::string& name) {
      return report.named.empty() && point.chosen && route_and_path(point.chosen->strategy) == name;
    };
    for (auto& series : result) {
      std::optional<Seconds> seconds;
      if (is_choice(series.name)) seconds = point.chosen->cost.seconds;
      else if (const auto price = prices.find(series.name); price != prices.end()) seconds = price->second;
      else if (series.name == "standard") seconds = point.standard_s;
      else if (series.name == "mpi") seconds = point.mpi_s;
      if (!seconds) continue;
      series.points.emplace_back(point.values[0], *seconds);
      series.tips.push_back(fmt::format("{} {}: {}, {}", people_key(key), print_value(key, point.values[0]),
                                        is_choice(series.name) ? to_string(as_run(*point.chosen)) : series.name,
                                        format_seconds(*seconds)));
      series.errors.push_back(point.ties.uncertainty);
    }
  }
  std::erase_if(result, [](const Series& series) { return series.points.empty(); });
  make_looks_unique(result);
  return result;
}

}  // namespace

Picture draw_sweep_lines(const SweepReport& report, const Frame& frame) {
  if (report.keys.size() != 1)
    throw InputError("--picture sweep", "it needs one key", "use for example --sweep bytes=8..64KiB");
  const auto& key = report.keys[0];
  const auto series = series_of(report);
  ValueRange times;
  bool has_error = false;
  for (const auto& one : series)
    for (std::size_t p = 0; p < one.points.size(); ++p) {
      const auto seconds = one.points[p].second, error = one.errors[p];
      if (seconds <= 0) continue;
      has_error = has_error || error > 0;
      times.add(seconds * std::max(least_share, 1 - error));
      times.add(seconds * (1 + error));
    }
  if (times.max <= 0) throw InputError("--picture sweep", "no value has a price", "sweep other values");

  const double width = frame.width;
  constexpr double left = 84, right = 24, height = 320;
  std::string listed;
  for (const auto& one : series)
    append(listed, " {} from {} to {};", one.name, format_seconds(one.points.front().second),
           format_seconds(one.points.back().second));
  Svg svg(frame, "Predicted time over " + people_key(key),
          fmt::format("The predicted time of one exchange over {}:{}", people_key(key), listed));
  double top = svg.head(fmt::format("{}.{}{}", inputs_of(report.context),
                                    report.named.empty() ? " A line is the best of a route at each value." : "",
                                    has_error ? " Whiskers: the uncertainty of the profile." : ""));
  Legend legend;
  for (const auto& one : series) legend.emplace_back(one.look, one.name);
  top = svg.legend(left, top, width - left - right, legend, true) + 18;

  const bool is_counted = key == "dims" || key == "memory";  // values without others between them
  const Axis across{is_counted ? Scale::linear : Scale::log2, report.points.front().values[0],
                    report.points.back().values[0], left + 8, width - right - 8};
  constexpr double margin = 1.12;
  const Axis up{Scale::log10, times.min / margin, times.max * margin, top + height, top};
  draw_left_axis(svg, up, left, width - right, time_label, 9);
  const int ticks_max = frame.ticks(12);
  draw_bottom_axis(
      svg, across, top + height, top, people_key(key), [&](double v) { return print_value(key, v); },
      is_counted ? std::clamp(static_cast<int>(across.last - across.first), 1, ticks_max) : ticks_max);
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
    for (std::size_t p = 0; p < one.points.size(); ++p) {
      const auto [x, seconds] = one.points[p];
      if (seconds <= 0) continue;
      if (const auto error = one.errors[p]; error > 0)
        svg.whisker(across.at(x), up.at(seconds * std::max(least_share, 1 - error)), across.at(x),
                    up.at(seconds * (1 + error)), fmt::format("whisker l{}", one.look.color));
      svg.point(across.at(x), up.at(seconds), one.look, one.tips[p]);
    }
  return std::move(svg).finish(top + height + 48, document_of(report), 2);
}

}  // namespace commpass
