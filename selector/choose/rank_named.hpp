// Ranks strategies that were named, of which some may have no price.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "selector/choose/select.hpp"

namespace commpass {

/// A strategy that was named and has no price where others have one.
struct NotPriced {
  std::string strategy, reason;
  bool operator==(const NotPriced&) const = default;
};

/// The ranking of those that have a price.
/// @param rank        throws NotApplicable if one of its strategies has no price
/// @param not_priced  gets the others
/// @throws NotApplicable of the first strategy if none has a price
std::vector<Candidate> rank_named(std::span<const Strategy> strategies,
                                  const std::function<std::vector<Candidate>(std::span<const Strategy>)>& rank,
                                  std::vector<NotPriced>& not_priced);

}  // namespace commpass
