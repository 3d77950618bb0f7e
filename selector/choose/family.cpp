#include "selector/choose/family.hpp"

#include <algorithm>
#include <optional>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

std::vector<std::string> automatic_parameters(const Strategy& strategy) {
  std::vector<std::string> names;
  for (const auto& argument : strategy.arguments)
    if (argument.values == std::vector{automatic_value}) names.push_back(argument.name);
  return names;
}

/// The automatic one with the values of another one of its route.
Strategy with_values(Strategy automatic, const std::vector<std::string>& parameters, const Strategy& of) {
  for (const auto& name : parameters) automatic.set(name, of.values(name));
  return automatic;
}

/// What an automatic one is equal to where its route has nothing to divide: a rank that is alone, on its node or in
/// all, sends each block straight to its destination. Nothing elsewhere.
std::optional<Strategy> equal_of(const Strategy& automatic, const Layout& layout) {
  const bool is_alone = automatic.route == "tuna-node" ? layout.max_ppn() == 1 : layout.ranks() == 1;
  return is_alone ? std::optional(Strategy{"standard", {}, automatic.window, automatic.coalescing, automatic.path})
                  : std::nullopt;
}

/// That with the least values, and those that the catalogue suggests, with all else as the automatic one has it.
std::vector<Strategy> suggestions(const Strategy& automatic, const std::vector<std::string>& parameters,
                                  const Layout& layout) {
  const auto& row = catalogue_row(automatic.route);
  auto least = automatic;
  for (const auto& parameter : row.parameters)
    if (std::ranges::find(parameters, parameter.name) != parameters.end()) least.set(parameter.name, {parameter.least});
  if (const auto reason = row.inapplicable(least, layout); !reason.empty())
    throw NotApplicable(to_string(automatic), reason);
  std::vector<Strategy> result{least};
  for (const auto& suggested : row.suggest(layout)) {
    auto strategy = with_values(automatic, parameters, suggested);
    if (!is_automatic(strategy) && row.inapplicable(strategy, layout).empty() &&
        std::ranges::find(result, strategy) == result.end())
      result.push_back(std::move(strategy));
  }
  return result;
}

}  // namespace

std::vector<Candidate> rank_family(const Pricer& price, const Strategy& automatic, const Layout& layout,
                                   std::int64_t edges, const Calls& calls) {
  const auto parameters = automatic_parameters(automatic);
  const auto price_family = [&](std::span<const Strategy> strategies) {
    std::vector<Strategy> family;
    for (const auto& strategy : strategies)
      if (strategy.route == automatic.route && with_values(automatic, parameters, strategy) == strategy)
        family.push_back(strategy);
    return price(family);
  };
  try {
    if (const auto equal = equal_of(automatic, layout)) return price(std::span(&*equal, 1));
    return rank_suggestions(price_family, suggestions(automatic, parameters, layout), layout, edges, calls);
  } catch (const NotApplicable& error) {  // by the name that was given, not by that of a member
    throw NotApplicable(to_string(automatic), error.reason());
  }
}

Strategy unpriced_member(const Strategy& automatic, const Layout& layout) {
  const auto parameters = automatic_parameters(automatic);
  auto members = suggestions(automatic, parameters, layout);
  const auto values = [&](const Strategy& member) {
    std::vector<std::vector<std::int64_t>> all;
    for (const auto& name : parameters) all.push_back(member.values(name));
    return all;
  };
  std::ranges::stable_sort(members, {}, values);
  return members[members.size() / 2];
}

std::vector<Strategy> with_chosen_values(const Pricer& price, std::span<const Strategy> strategies,
                                         const Layout& layout, std::int64_t edges, const Calls& calls) {
  std::vector<Strategy> result;
  for (const auto& strategy : strategies) {
    if (!is_automatic(strategy)) {
      result.push_back(strategy);
      continue;
    }
    auto chosen = rank_family(price, strategy, layout, edges, calls).front().strategy;
    if (std::ranges::find(strategies, chosen) == strategies.end() && std::ranges::find(result, chosen) == result.end())
      result.push_back(std::move(chosen));
  }
  return result;
}

}  // namespace commpass
