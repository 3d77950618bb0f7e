#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

std::string name_of_key(const std::string& key) {
  if (key == "bytes") return "bytes of a block";
  if (key == "ranks") return "ranks";
  if (key == "ppn") return "ranks on a node";
  if (key == "cap") return "cap of a chunk";
  if (key == "dims") return "dimensions";
  return people_key(key);
}

/// "2.5×"; "1.4× slower" if the choice is slower than sending directly.
std::string print_factor(double gain) {
  constexpr double whole_factor_min = 10;
  const auto print = [](double factor) { return format_fixed(factor, factor < whole_factor_min ? 1 : 0) + "×"; };
  if (gain >= 1 || gain <= 0) return print(gain);
  const auto slower = print(1 / gain);
  return slower == print(1) ? slower : slower + " slower";
}

/// Breaks a name that is too wide at the hyphen nearest to its centre: "local-then-", "node".
std::vector<std::string> in_two(const std::string& name, double size, double room) {
  if (text_width(name, size) <= room) return {name};
  std::size_t best = std::string::npos;
  const auto off = [&](std::size_t at) { return at * 2 > name.size() ? at * 2 - name.size() : name.size() - at * 2; };
  for (auto at = name.find('-'); at != std::string::npos; at = name.find('-', at + 1))
    if (best == std::string::npos || off(at) < off(best)) best = at;
  if (best == std::string::npos) return {name};
  return {name.substr(0, best + 1), name.substr(best + 1)};
}

std::string tip_of(const SweepReport& report, const SweepPoint& point) {
  auto tip = fmt::format("{} {}, {} {}", people_key(report.keys[0]), print_value(report.keys[0], point.values[0]),
                         people_key(report.keys[1]), print_value(report.keys[1], point.values[1]));
  if (!point.chosen) return tip + ": " + point.reason;
  tip += fmt::format(": {}, {}", to_string(as_run(*point.chosen)), format_seconds(point.chosen->cost.seconds));
  if (point.standard_s) tip += fmt::format("; standard {}", format_seconds(*point.standard_s));
  if (const auto tied = describe_ties(point.ties, point.chosen->strategy); !tied.empty()) tip += "; " + tied;
  if (!point.note.empty()) tip += "; " + point.note;
  return tip;
}

bool has_ties(const SweepReport& report) {
  return std::ranges::any_of(report.points, [](const SweepPoint& point) { return !point.ties.strategies.empty(); });
}

std::string describe(const SweepReport& report, const std::vector<std::string>& routes) {
  double most = 0;
  for (const auto& point : report.points) most = std::max(most, point.gain().value_or(0));
  return fmt::format(
      "Which strategy is chosen by prediction for each number of {} and {}. The choices are {}. The number in a "
      "cell says how many times faster that is than sending every block directly: {} at most.{}",
      name_of_key(report.keys[0]), name_of_key(report.keys[1]), join(routes, ", "), print_factor(most),
      has_ties(report) ? " Hatched cells are ties." : "");
}

}  // namespace

Picture draw_strategy_map(const SweepReport& report, const Frame& frame) {
  if (report.keys.size() != 2)
    throw InputError("--picture strategy-map", "it needs two keys",
                     "use for example --sweep ranks=16..4096,bytes=8..64KiB:x4");
  const auto rows = values_of(report, 0), columns = values_of(report, 1);
  std::vector<std::string> routes;
  for (const auto& point : report.points)
    if (point.chosen && std::ranges::find(routes, route_and_path(point.chosen->strategy)) == routes.end())
      routes.push_back(route_and_path(point.chosen->strategy));

  constexpr double left = 78, right = 14, cell_height = 40, gap = 2, cell_width_min = 40;
  const double width = std::max(frame.width, left + right + static_cast<double>(columns.size()) * cell_width_min);
  const double cell_width = (width - left - right) / static_cast<double>(columns.size());
  constexpr double narrow = 44, room_for_names = 50;
  const double name_size = cell_width < room_for_names ? 8 : 10;
  const auto named = [&](const std::string& key) {
    const auto found = std::ranges::find(report.context, key, &std::pair<std::string, std::string>::first);
    return found == report.context.end() ? std::string() : found->second;
  };
  const auto pattern = named("pattern");
  Svg svg(frame, fmt::format("Chosen strategy for {} on {}", pattern.substr(0, pattern.find(':')), named("profile")),
          describe(report, routes), width);
  double top = svg.head(fmt::format(
      "Predicted; {}. In each cell: how many times faster than sending every block directly (standard), and the "
      "strategy "
      "that is chosen.{}",
      named("layout"),
      has_ties(report) ? " Hatched: it ties with others, which the profile cannot tell from the fastest by prediction, "
                         "and is the simplest."
                       : ""));
  Legend legend;
  for (const auto& route : routes) legend.emplace_back(look_of_route(route), route);
  top = svg.legend(left, top, width - left - right, legend) + 4;

  for (std::size_t p = 0; p < report.points.size(); ++p) {
    const auto& point = report.points[p];
    const auto column = p % columns.size(), row = rows.size() - 1 - p / columns.size();
    const double x = left + static_cast<double>(column) * cell_width, y = top + static_cast<double>(row) * cell_height;
    const double middle = x + (cell_width - gap) / 2;
    if (!point.chosen) {
      svg.rect(x, y, cell_width - gap, cell_height - gap, "faint", tip_of(report, point));
      svg.text(middle, y + cell_height / 2 + 3, "–", "dim", Anchor::middle);
      continue;
    }
    const auto route = route_and_path(point.chosen->strategy);
    svg.mark(x, y, cell_width - gap, cell_height - gap, look_of_route(route), tip_of(report, point), true);
    if (!point.ties.strategies.empty()) svg.hatch(x, y, cell_width - gap, cell_height - gap);
    const auto factor = point.gain() ? print_factor(*point.gain()) : "";
    const auto lines = in_two(route, name_size, cell_width - gap - 2);
    const double up = lines.size() > 1 ? 13 : 16;
    svg.text(middle, y + up, factor, "ink strong", Anchor::middle, cell_width < narrow ? 10 : 12);
    for (std::size_t l = 0; l < lines.size(); ++l)
      svg.text(middle, y + up + 11 + 10 * static_cast<double>(l) + (lines.size() > 1 ? 0 : 2),
               shorten(lines[l], name_size, cell_width - gap), "ink", Anchor::middle, name_size);
  }
  double bottom = top + static_cast<double>(rows.size()) * cell_height;
  for (std::size_t r = 0; r < rows.size(); ++r)
    svg.text(left - 8, bottom - (static_cast<double>(r) + 0.5) * cell_height + 3, print_value(report.keys[0], rows[r]),
             "dim", Anchor::end);
  for (std::size_t c = 0; c < columns.size(); ++c)
    svg.text(left + (static_cast<double>(c) + 0.5) * cell_width - gap / 2, bottom + 14,
             print_value(report.keys[1], columns[c]), "dim", Anchor::middle, cell_width < narrow ? 10 : 12);
  svg.upward_text(22, (top + bottom) / 2, name_of_key(report.keys[0]));
  svg.text(left + (width - left - right) / 2, bottom + 34, name_of_key(report.keys[1]), "dim", Anchor::middle);
  bottom += 46;
  // One note for all cells; the tooltip of a cell has its own.
  const auto noted = std::ranges::count_if(report.points, [](const SweepPoint& point) { return !point.note.empty(); });
  for (const auto& note : notes_of(report)) bottom = svg.paragraph(bottom + 10, "Note: " + note + ".");
  if (noted > 0 && noted < std::ssize(report.points))
    bottom = svg.paragraph(bottom + 10, fmt::format("That concerns {} of {} cells.", noted, report.points.size()));
  return std::move(svg).finish(bottom + 4, document_of(report), 2);
}

}  // namespace commpass
