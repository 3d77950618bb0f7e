#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/svg.hpp"
#include "selector/report/what_if_report.hpp"

namespace commpass {

namespace {

struct Box {
  double left, top, right, bottom;
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

/// Finds free places for labels beside points.
class LabelPlaces {
 public:
  explicit LabelPlaces(Box room) : room_(room) {}

  void take(const Box& box) { taken_.push_back(box); }
  /// Writes the first of the texts that has a free place. @return is there one?
  bool write(Svg& svg, double x, double y, const std::vector<std::string>& texts) {
    constexpr double size = 11, gap = 8, line = 13;
    for (const auto& text : texts)
      for (const double down : {0.0, -line, line})
        for (const bool is_right : {true, false}) {
          const double width = text_width(text, size), from = is_right ? x + gap : x - gap - width;
          const Box box{from, y + down - size / 2, from + width, y + down + size / 2};
          const bool is_inside =
              box.left >= room_.left && box.right <= room_.right && box.top >= room_.top && box.bottom <= room_.bottom;
          if (!is_inside || std::ranges::any_of(taken_, [&](const Box& other) { return box.overlaps(other); }))
            continue;
          svg.rect(box.left, box.top, width, box.bottom - box.top, "paper veil");
          svg.text(is_right ? from : x - gap, y + down + 4, text, "ink", is_right ? Anchor::start : Anchor::end, size);
          taken_.push_back(box);
          return true;
        }
    return false;
  }

 private:
  Box room_;
  std::vector<Box> taken_;
};

}  // namespace

Picture draw_pareto_front(const Report& report, const Frame& frame) {
  const auto pareto = pareto_front(report);
  const auto& [known, front] = pareto;
  const auto seconds_of = [&](const Candidate* c) { return ranked_seconds(*c, report.calls); };
  const auto bytes_of = [](const Candidate* c) { return static_cast<double>(*c->buffered_bytes_max); };
  constexpr double margin = 1.25;
  const double first_s = seconds_of(front.front()), last_s = seconds_of(front.back()) * margin;
  constexpr double first_margin = 1.1;
  double bytes_max = 1;  // any scale
  for (const auto* candidate : front) bytes_max = std::max(bytes_max, bytes_of(candidate) * margin);
  std::string listed;
  for (const auto* candidate : front)
    append(listed, " {} {}, {}, {} partners;", to_string(candidate->strategy), format_seconds(seconds_of(candidate)),
           format_bytes(bytes_of(candidate)), candidate->demand->partners);
  listed.back() = '.';
  Svg svg(frame, "Time, memory and partners",
          fmt::format("Strategies that no other one beats in predicted time, memory for forwarded blocks and partners "
                      "of a rank at once:{}",
                      listed));
  constexpr double left = 84, right = 20, height = 320, point = 5;
  double top = svg.head(fmt::format(
      "Predicted, {}: {}. No other strategy is as good as one of the labelled ones in time, memory and partners at "
      "once. In brackets: the partners of a rank. Small marks: other strategies.",
      report.calls ? "planning and all calls" : "one exchange", inputs_of(report.context)));
  Legend legend;
  for (const auto* candidate : front) {
    const auto route = candidate->strategy.route;
    if (std::ranges::find(legend, route, &Legend::value_type::second) == legend.end())
      legend.emplace_back(look_of_route(route), route);
  }
  top = svg.legend(left, top, frame.width - left - right, legend) + 8;
  const Axis across{Scale::log10, first_s / first_margin, last_s, left, frame.width - right};
  const Axis up{Scale::linear, 0, bytes_max, top + height, top};
  double unit = 1;  // with ticks at round numbers of it
  while (bytes_max / unit > 1024) unit *= 1024;
  draw_left_axis(
      svg, {Scale::linear, 0, bytes_max / unit, top + height, top}, left, frame.width - right,
      [&](double count) { return format_bytes(count * unit); }, 7);
  draw_bottom_axis(svg, across, top + height, top, "predicted time", time_label, frame.ticks(9));
  svg.upward_text(14, top + height / 2, "memory of a rank for forwarded blocks");
  // The least memory that a time allows.
  double least = bytes_max;
  std::string steps = fmt::format("M{} {}", svg_number(across.at(seconds_of(front.front()))), svg_number(top));
  for (const auto* candidate : front) {
    if (bytes_of(candidate) >= least) continue;
    append(steps, "L{0} {1}L{0} {2}", svg_number(across.at(seconds_of(candidate))), svg_number(up.at(least)),
           svg_number(up.at(bytes_of(candidate))));
    least = bytes_of(candidate);
  }
  append(steps, "L{} {}", svg_number(frame.width - right), svg_number(up.at(least)));
  svg.path(steps, "axis hollow d4", "the least memory of strategies up to this time");
  std::size_t beyond = 0;
  for (const auto* candidate : known) {
    if (std::ranges::find(front, candidate) != front.end()) continue;
    if (seconds_of(candidate) > last_s || bytes_of(candidate) > bytes_max) {
      ++beyond;
      continue;
    }
    constexpr double small = 4;
    svg.rect(
        across.at(seconds_of(candidate)) - small / 2, up.at(bytes_of(candidate)) - small / 2, small, small, "faint",
        fmt::format("{}: {}, {}, {} partners", to_string(candidate->strategy), format_seconds(seconds_of(candidate)),
                    format_bytes(bytes_of(candidate)), candidate->demand->partners));
  }
  LabelPlaces places({left, top, frame.width, top + height});
  for (const auto* candidate : front) {
    const double x = across.at(seconds_of(candidate)), y = up.at(bytes_of(candidate));
    places.take({x - point, y - point, x + point, y + point});
    svg.point(
        x, y, look_of_route(candidate->strategy.route),
        fmt::format("{}: {}, {}, {} partners", to_string(candidate->strategy), format_seconds(seconds_of(candidate)),
                    format_bytes(bytes_of(candidate)), candidate->demand->partners));
  }
  for (const auto* candidate : front) {
    const auto labelled = [&](const std::string& name) {
      return fmt::format("{} ({})", name, candidate->demand->partners);
    };
    places.write(svg, across.at(seconds_of(candidate)), up.at(bytes_of(candidate)),
                 {labelled(to_string(candidate->strategy)), labelled(candidate->strategy.route),
                  fmt::format("({})", candidate->demand->partners)});
  }
  double end = top + height + 44;
  if (beyond > 0)
    end = svg.paragraph(end + 10,
                        fmt::format("{} other strategies are beyond the axes: slower or with more memory.", beyond));
  if (!report.note.empty()) end = svg.paragraph(end + 10, "Note: " + report.note + ".");
  return std::move(svg).finish(end + 8, pareto_document(report));
}

}  // namespace commpass
