// What a strategy leaves to the model: radix=auto.
#pragma once

#include <span>
#include <vector>

#include "selector/choose/select.hpp"

namespace commpass {

/// rank_suggestions for the strategies that an automatic one stands for: those that differ from it in the automatic
/// values alone.
/// @param automatic  see is_automatic (model/route/strategy.hpp)
/// Where it has nothing to divide (tuna-node with one rank a node), that is the direct exchange.
/// @return at least one candidate
/// @throws NotApplicable if none of them applies, or they cannot be priced
std::vector<Candidate> rank_family(const Pricer& price, const Strategy& automatic, const Layout& layout,
                                   std::int64_t edges, const Calls& calls = {});

/// The one of them that runs where nothing has a price: of those that rank_family begins with, the median by
/// its values.
/// @throws NotApplicable if none of them applies
Strategy unpriced_member(const Strategy& automatic, const Layout& layout);

/// The strategies, with the cheapest of its family in place of each automatic one; not if that is among them.
/// @throws as rank_family
std::vector<Strategy> with_chosen_values(const Pricer& price, std::span<const Strategy> strategies,
                                         const Layout& layout, std::int64_t edges, const Calls& calls = {});

}  // namespace commpass
