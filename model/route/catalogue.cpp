#include "model/route/catalogue.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/nearest_names.hpp"

namespace commpass {

const std::vector<CatalogueRow>& catalogue() {
  static const std::vector<CatalogueRow> rows{
      standard_row(), two_step_row(), two_step_socket_row(), three_step_row(),   split_row(),     local_then_node_row(),
      stfw_row(),     tuna_row(),     tuna_node_row(),       multi_leader_row(), cartesian_row(), mpi_row()};
  return rows;
}

const CatalogueRow& catalogue_row(const std::string& name) {
  const auto row = std::ranges::find_if(catalogue(), [&](const auto& r) { return name == r.name; });
  if (row != catalogue().end()) return *row;
  std::vector<std::string> names;
  for (const auto& each : catalogue()) names.emplace_back(each.name);
  const auto near = did_you_mean(name, names);
  throw InputError(
      "strategy " + (name.empty() ? "''" : name), "there is none of that name",
      near.empty() ? fmt::format("use one of {}", join(names, ", ")) : near + "'commpass strategies' lists all");
}

std::string refuse_window(const Strategy& strategy) {
  return strategy.window.unlimited() ? "" : "its stages have no rounds, so it takes no window";
}

bool takes_window(const Strategy& strategy) {
  auto windowed = strategy;
  windowed.window = {1};
  return catalogue_row(strategy.route).malformed(windowed).empty();
}

std::vector<Strategy> vary_argument(const Strategy& strategy, const std::string& name, std::int64_t least,
                                    std::int64_t most) {
  const auto value = strategy.values(name)[0];
  std::vector<Strategy> result;
  for (const auto varied :
       std::set{value / 2, value - value / 8, value - 1, value + 1, 2 * value, (value + most) / 2}) {
    if (varied < least || varied > most || varied == value) continue;
    auto& other = result.emplace_back(strategy);
    std::ranges::find(other.arguments, name, &Argument::name)->values = {varied};
  }
  return result;
}

namespace {

/// The row of a strategy that applies.
const CatalogueRow& applicable_row(const Strategy& strategy, const Layout& layout) {
  const auto& row = catalogue_row(strategy.route);
  if (is_automatic(strategy))
    throw NotApplicable(to_string(strategy), "what it leaves to the model is not chosen here; name a number");
  if (const auto reason = row.inapplicable(strategy, layout); !reason.empty())
    throw NotApplicable(to_string(strategy), reason);
  if (strategy.path.copies > layout.max_ppn())
    throw NotApplicable(to_string(strategy), fmt::format("no node has {} ranks to copy with", strategy.path.copies));
  return row;
}

}  // namespace

void require_applicable(const Strategy& strategy, const Layout& layout) { applicable_row(strategy, layout); }

PatternNeed pattern_need(const Strategy& strategy) {
  const auto& row = catalogue_row(strategy.route);
  return row.need ? row.need(strategy) : PatternNeed::nothing;
}

PatternTables make_tables(const Strategy& strategy, const Layout& layout, const Pattern& pattern) {
  if (pattern_need(strategy) == PatternNeed::nothing) return {};
  return applicable_row(strategy, layout).tables(strategy, layout, pattern);
}

std::unique_ptr<Route> make_route(const Strategy& strategy, const Layout& layout, const PatternTables& tables) {
  auto route = applicable_row(strategy, layout).make(strategy, layout, tables);
  route->seat(layout);
  return route;
}

std::unique_ptr<Route> make_route(const Strategy& strategy, const Layout& layout, const Pattern& pattern) {
  return make_route(strategy, layout, make_tables(strategy, layout, pattern));
}

std::vector<Strategy> suggest_strategies(const Layout& layout) {
  std::vector<Strategy> result;
  for (const auto& row : catalogue())
    for (auto& strategy : row.suggest(layout))
      if (std::ranges::find(result, strategy) == result.end()) result.push_back(std::move(strategy));
  return result;
}

}  // namespace commpass
