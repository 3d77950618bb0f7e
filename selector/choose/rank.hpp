// The one ranking of strategies: a kind of exchange offers candidates and prices, and the decision (ties.hpp) sorts
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "selector/choose/finalists.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// What a kind of exchange gives to the decision: its candidates, and how one is priced.
struct Alternatives {
  Pricer price;
  std::function<std::vector<Strategy>()> suggestions;  ///< where none are named
  std::int64_t edges = 0;                              ///< see search_strategies
  bool has_edges = true;                               ///< else suggestions need a closed form (has_closed_form)
  SearchFrom from = SearchFrom::near_routes;
  std::optional<Strategy> family{};          ///< an automatic strategy, for whose family alone is chosen (family.hpp)
  std::optional<PricersByDepth> by_depth{};  ///< the pricers of suggestions, if these are priced in part first
  std::size_t at_once = fewest_finalists;    ///< see rank_finalists
};

/// Prices named strategies, or the suggestions and those that a search finds from there, and sorts them by the one
/// decision.
/// @return at least one candidate, the first priced in full
/// @throws NotApplicable if a named strategy does not apply or cannot be priced; InputError
std::vector<Candidate> rank(const Alternatives& alternatives, const Layout& layout, const Machine& machine,
                            const Calls& calls = {}, std::span<const Strategy> named = {});

/// A strategy that was named and has no price where others have one.
struct NotPriced {
  std::string strategy, reason;
  bool operator==(const NotPriced&) const = default;
};

/// The ranking of named strategies that have a price.
/// @param rank        throws NotApplicable if one of its strategies has no price
/// @param not_priced  gets the others
/// @throws NotApplicable of the first strategy if none has a price
std::vector<Candidate> rank_named(std::span<const Strategy> strategies,
                                  const std::function<std::vector<Candidate>(std::span<const Strategy>)>& rank,
                                  std::vector<NotPriced>& not_priced);

}  // namespace commpass
