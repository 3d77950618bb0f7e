#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/svg.hpp"
#include "selector/report/what_if_report.hpp"

namespace commpass {

Picture draw_sensitivity(const SensitivityReport& report, const Frame& frame) {
  if (report.parameters.empty())
    throw InputError("--picture sensitivity", "no parameter of the profile has an effect", "use another pattern");
  constexpr std::size_t drawn_max = 12;
  const auto drawn = std::min(drawn_max, report.parameters.size());
  constexpr Look doubled{5, 0}, halved{1, 1};
  double least = 0, most = 0;
  std::string listed;
  for (const auto& row : report.parameters) {
    least = std::min({least, row.doubled - 1, row.halved - 1});
    most = std::max({most, row.doubled - 1, row.halved - 1});
    append(listed, " {}: {} and {};", row.parameter, format_change(row.doubled), format_change(row.halved));
  }
  if (least == most) most = 0.01;  // any scale
  listed.back() = '.';
  Svg svg(frame, "Which parameters matter to " + report.chosen,
          fmt::format("The change of its predicted time, {}, with twice and with half of each parameter alone:{}",
                      format_seconds(report.predicted_s), listed));
  double y = svg.head(fmt::format(
      "{}. The change of the predicted time, {}, with twice and with half of each parameter alone. Right of a "
      "parameter: the factors from which another strategy is chosen.",
      inputs_of(report.context), format_seconds(report.predicted_s)));
  constexpr double left = picture_margin + 10, right = 30, row_height = 40, bar = 10;
  y = svg.legend(picture_margin, y, frame.width - 2 * picture_margin,
                 {{doubled, "twice the parameter"}, {halved, "half the parameter"}}) +
      2;
  const Axis axis{Scale::linear, least, most, left, frame.width - right};
  const double end = y + row_height * static_cast<double>(drawn);
  draw_bottom_axis(
      svg, axis, end, y, "change of the predicted time",
      [](double change) { return change == 0 ? "0" : fmt::format("{:+.3g} %", 100 * change); }, frame.ticks(8));
  for (std::size_t i = 0; i < drawn; ++i) {
    const auto& row = report.parameters[i];
    auto label = row.parameter;
    for (const auto* change : {&row.rise, &row.fall})
      if (change->strategy) append(label, " · {}", describe_change(*change));
    svg.text(picture_margin, y + 15, shorten(label, 12, frame.width - 2 * picture_margin));
    double top = y + 19;
    for (const auto& [ratio, look, what] :
         {std::tuple(row.doubled, doubled, "twice"), std::tuple(row.halved, halved, "half")}) {
      const double from = axis.at(std::min(0.0, ratio - 1)), to = axis.at(std::max(0.0, ratio - 1));
      svg.mark(from, top, to - from, bar, look, fmt::format("{} of {}: {}", what, row.parameter, format_change(ratio)));
      top += bar;
    }
    svg.line(axis.at(0), top - 2 * bar - 1, axis.at(0), top + 1, "bold");
    y += row_height;
  }
  y = svg.paragraph(end + 56, fmt::format("{} other parameters have {} effect.",
                                          report.without_effect + report.parameters.size() - drawn,
                                          drawn < report.parameters.size() ? "a smaller or no" : "no"));
  return std::move(svg).finish(y + 8, document_of(report));
}

}  // namespace commpass
