#include "selector/choose/nearest.hpp"

#include <algorithm>

#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

using Kind = Parameter::Kind;

bool applies(const Strategy& strategy, const Layout& layout) {
  const auto& row = catalogue_row(strategy.route);
  return row.malformed(strategy).empty() && row.inapplicable(strategy, layout).empty();
}

/// With `most` or the next smaller number that applies; no number is larger than that of the ranks.
std::optional<Strategy> with_number(Strategy strategy, const Parameter& parameter, std::int64_t most,
                                    const Layout& layout) {
  for (auto number = std::min<std::int64_t>(most, layout.ranks()); number >= parameter.least; --number) {
    strategy.set(parameter.name, {number});
    if (applies(strategy, layout)) return strategy;
  }
  return std::nullopt;
}

/// With another number in place of one that it has.
std::optional<Strategy> with_smaller_number(const Strategy& strategy, const Layout& layout) {
  for (const auto& parameter : catalogue_row(strategy.route).parameters) {
    const auto values = strategy.values(parameter.name);
    if (parameter.kind != Kind::integer || values.empty()) continue;
    if (auto found = with_number(strategy, parameter, values[0], layout)) return found;
  }
  return std::nullopt;
}

/// Without one of its lists of dimensions, or with their number in its place where the route needs one; then without
/// all.
std::optional<Strategy> without_dimensions(const Strategy& strategy, const Layout& layout) {
  auto without_all = strategy;
  const auto& parameters = catalogue_row(strategy.route).parameters;
  for (const auto& parameter : parameters) {
    const auto sizes = strategy.values(parameter.name);
    if (parameter.kind != Kind::dimensions || sizes.empty()) continue;
    without_all.set(parameter.name, {});
    auto without = strategy;
    without.set(parameter.name, {});
    if (applies(without, layout)) return without;
    for (const auto& number : parameters)
      if (number.kind == Kind::integer)
        if (auto found = with_number(without, number, std::ssize(sizes), layout)) return found;
  }
  return applies(without_all, layout) ? std::optional(without_all) : std::nullopt;
}

}  // namespace

std::optional<Strategy> nearest_applicable(const Strategy& strategy, const Layout& layout) {
  if (is_automatic(strategy)) {  // if any of its family applies, that with the least numbers does
    auto least = strategy;
    for (const auto& parameter : catalogue_row(strategy.route).parameters)
      if (strategy.values(parameter.name) == std::vector{automatic_value}) least.set(parameter.name, {parameter.least});
    return applies(least, layout) ? std::optional(strategy) : std::nullopt;
  }
  if (applies(strategy, layout)) return strategy;
  const auto found = with_smaller_number(strategy, layout);
  return found ? found : without_dimensions(strategy, layout);
}

std::optional<SparseStrategy> nearest_applicable(const SparseStrategy& strategy, const Layout& layout) {
  auto route = nearest_applicable(strategy.route, layout);
  return route ? std::optional(SparseStrategy{std::move(*route), strategy.discovery}) : std::nullopt;
}

}  // namespace commpass
