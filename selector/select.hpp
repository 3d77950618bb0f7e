// Which strategies to consider for an exchange, and which one is cheapest.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cost.hpp"
#include "model/strategy.hpp"

namespace commpass {

/// A strategy and what it is predicted to cost for one pattern.
struct Candidate {
  Strategy strategy;
  Cost cost;
  std::optional<std::int64_t> buffered_blocks_max{};  ///< see Schedule; not known in closed form
  std::optional<Bytes> buffered_bytes_max{};
  std::optional<Bytes> bytes_sent{};                  ///< by all ranks in all stages; not known in closed form
  bool is_part = false;  ///< the cost is that of the busiest ranks' messages alone: see RankingDepth::cheapest
};

/// Prices strategies, all for the same pattern and machine, and gives their candidates in the same order.
/// @throws NotApplicable, InputError
using Pricer = std::function<std::vector<Candidate>(std::span<const Strategy>)>;

/// What is priced in full.
enum class RankingDepth {
  all,      ///< everything
  cheapest  ///< what may be the cheapest (see shortlist.hpp); the others come last, by what is known of them
};

/// Prices one strategy for a pattern.
/// @throws NotApplicable, InputError
Candidate price(const Strategy& strategy, const Pattern& pattern, const Layout& layout, const Machine& machine,
                CostModel model = CostModel::burst);

/// Prices strategies and sorts them by predicted time; ties (to nine digits) stay in the given order.
/// @param strategies  empty: all that are offered (offered_strategies), and what search_strategies finds from there
/// @return at least one candidate, the first priced in full
/// @throws NotApplicable if a given strategy does not apply or cannot be priced on this machine; InputError
std::vector<Candidate> rank_strategies(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                       CostModel model = CostModel::burst, std::span<const Strategy> strategies = {},
                                       RankingDepth depth = RankingDepth::all);

/// Can an all-to-all be priced without its edges? Not with relays and staggered messages.
bool has_closed_form(const Strategy& strategy);

/// Prices one strategy for an all-to-all with equal blocks in closed form (estimate_alltoall).
/// @throws NotApplicable, also if the strategy has no closed form; InputError
Candidate price_alltoall(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine, CostModel model = CostModel::burst);

/// As rank_strategies, for an all-to-all with equal blocks in closed form. Suggestions that have none are left out.
/// @param bytes  of every block
/// @throws NotApplicable if a given strategy does not apply, cannot be priced on this machine or has no closed form; InputError
std::vector<Candidate> rank_alltoall(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model = CostModel::burst,
                                     std::span<const Strategy> strategies = {});

/// Why a candidate costs what it costs: for each stage its messages, bytes, seconds and what dominates, and how it
/// compares with the cheapest other candidate, or, if it is not the cheapest, with that.
/// @param ranking  as rank_strategies gives it
/// @param chosen   index in ranking
std::string explain(std::span<const Candidate> ranking, std::size_t chosen);

}  // namespace commpass
