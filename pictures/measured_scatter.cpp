#include "pictures/calibration_facts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"
#include "pictures/axis.hpp"
#include "pictures/svg.hpp"

namespace commpass {

bool MeasuredPrice::can_be_drawn() const {
  constexpr Seconds least = 1e-12, most = 1e6;
  return std::min(predicted_s, measured_s) >= least && std::max(predicted_s, measured_s) <= most;
}

std::vector<MeasuredPrice> read_measured_prices(const std::string& json, const std::string& origin) {
  const auto parsed = Json::parse_or_null(json);
  std::vector<MeasuredPrice> prices;
  for (const auto& row : parsed.list("ranking")) {
    const auto strategy = row.optional<std::string>("strategy");
    if (!strategy) continue;
    MeasuredPrice price{*strategy, row.number_or_0("predicted_s"), row.number_or_0("measured_s"), {}};
    if (price.can_be_drawn()) prices.push_back(std::move(price));
  }
  if (prices.empty())
    throw InputError(origin, "it has no predicted and measured times from 1e-12 to 1e6 s",
                     "name a file that 'commpass measure --json' printed");
  return prices;
}

Picture draw_measured(const std::vector<MeasuredPrice>& prices, const Frame& frame) {
  constexpr double band = 0.15;
  ValueRange times;
  std::vector<double> errors;
  std::size_t within = 0;
  for (const auto& price : prices) {
    times.add(price.predicted_s);
    times.add(price.measured_s);
    errors.push_back(std::abs(price.predicted_s / price.measured_s - 1));
    within += errors.back() <= band;
  }
  const auto summary = fmt::format(
      "Half of {} predictions are within {:.1f} % of the measured times (predicted ÷ measured − 1), {} within 15 %; at "
      "worst one is {:.0f} % off.",
      prices.size(), 100 * median(errors), within, 100 * std::ranges::max(errors));
  constexpr double left = 84, right = 24, margin = 1.3;
  const double side = std::min(420.0, frame.width - left - right);
  const double least = times.min / margin, most = times.max * margin;
  Svg svg(frame, "Predicted and measured", summary);
  double top = svg.head(summary);
  Legend legend;
  for (const auto& price : prices) {
    const auto route = price.strategy.substr(0, price.strategy.find(','));
    if (std::ranges::find(legend, route, &Legend::value_type::second) == legend.end())
      legend.emplace_back(look_of_route(route), route);
  }
  top = svg.legend(left, top, frame.width - left - right, legend) + 8;
  const Axis across{Scale::log10, least, most, left, left + side}, up{Scale::log10, least, most, top + side, top};
  draw_left_axis(svg, up, left, left + side, time_label, 7);
  draw_bottom_axis(svg, across, top + side, top, "measured", time_label, 7);
  const auto point = [&](double x, double y) {
    return svg_number(across.clamped(x)) + " " + svg_number(up.clamped(y));
  };
  const double high = 1 + band, low = 1 - band;
  svg.path(fmt::format("M{} L{} L{} L{} L{} L{} Z", point(least, least), point(least, least * high),
                       point(most / high, most), point(most, most), point(most, most * low), point(least / low, least)),
           "faint light", "within 15 %");
  svg.path(fmt::format("M{} L{}", point(least, least), point(most, most)), "axis");
  for (const auto& price : prices)
    svg.point(
        across.at(price.measured_s), up.at(price.predicted_s), look_of_route(price.strategy),
        fmt::format("{}{}: predicted {}, measured {}, {:+.1f} %", price.exchange.empty() ? "" : price.exchange + ", ",
                    price.strategy, format_seconds(price.predicted_s), format_seconds(price.measured_s),
                    100 * (price.predicted_s / price.measured_s - 1)));
  svg.upward_text(14, top + side / 2, "predicted");
  Table table{"prices", columns_of("exchange strategy predicted_s measured_s")};
  for (const auto& [strategy, predicted_s, measured_s, exchange] : prices)
    table.add({exchange, strategy, predicted_s, measured_s});
  Document numbers;
  numbers.fact("schema_version", 1);
  numbers.add(std::move(table));
  return std::move(svg).finish(top + side + 48, numbers);
}

}  // namespace commpass
