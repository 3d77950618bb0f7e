// Which strategies to consider for an exchange, and which one is cheapest.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/cost/demand.hpp"
#include "model/route/library_algorithm.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// A strategy and what it is predicted to cost for one pattern.
struct Candidate {
  Strategy strategy;
  Cost cost;
  std::optional<std::int64_t> buffered_blocks_max{};  ///< see Schedule; not known in closed form
  std::optional<Bytes> buffered_bytes_max{};
  std::optional<Bytes> bytes_sent{};      ///< by all ranks in all stages; not known in closed form
  std::optional<Seconds> plan_seconds{};  ///< predicted time to plan the exchange; only where calls are counted
  bool is_part = false;  ///< the cost is that of the busiest ranks' messages alone: see RankingDepth::cheapest
  std::optional<Demand> demand{};             ///< not known of ways on a grid
  std::optional<Window> limited_window{};     ///< with which it runs and is priced, where its own exceeds a limit
  const char* exceeded_limit = nullptr;       ///< the key of a limit that it exceeds even so; null: all are kept
  std::optional<LibraryAlgorithm> library{};  ///< of `mpi`: by whose messages it is priced, if not by those of standard
};

/// The strategy with the window that a machine's limits leave it.
Strategy as_run(const Candidate& candidate);

/// By what candidates are ranked before their price: 0 if they keep all limits, 1 if they exceed one of partners or
/// memory, 2 if they have more messages in flight than the network may bear.
int excess(const Candidate& candidate);

/// The candidates that are priced in full.
enum class RankingDepth {
  all,      ///< everything
  cheapest  ///< those that may be the cheapest (see shortlist.hpp); the others come last, by their known parts
};

/// How often an exchange will run after it was planned. Nothing: so often that the time to plan it does not matter.
using Calls = std::optional<double>;

inline constexpr double most_calls = 1e18;  ///< with times of any profile their product stays finite

/// @throws InputError unless the number is above 0 and at most most_calls
void check_calls(const Calls& calls);

/// The seconds by which candidates are ranked: of planning and all exchanges, or, without calls, of one exchange.
Seconds ranked_seconds(const Candidate& candidate, const Calls& calls);

/// Seconds to nine digits: differences beyond that are rounding, not a reason.
Seconds comparable(Seconds seconds);

/// Prices strategies, all for the same pattern and machine, and gives their candidates in the same order: as_run,
/// where a strategy has more messages in flight than the machine allows.
/// @throws NotApplicable, also if a strategy cannot be priced on the machine; InputError
using Pricer = std::function<std::vector<Candidate>(std::span<const Strategy>)>;

/// The numbers of strategies that differ in nothing but their window and path, and so need one schedule: best priced
/// together.
std::vector<std::vector<std::size_t>> by_route(std::span<const Strategy> strategies);

/// Prices a pattern without its edges (estimate). The layout and the machine must live as
/// long as the result, which throws NotApplicable for strategies without a closed form.
Pricer random_pricer(const RandomPattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                     const Calls& calls, Usage usage = Usage::planned);

/// What a search for further strategies goes on from (search.hpp).
enum class SearchFrom {
  near_routes,  ///< the cheapest, and the cheapest of each route that takes at most twice as long
  cheapest      ///< the cheapest alone: where prices are rough, the cheapest of many is often the most mistaken
};

/// Sorts by ranked_seconds; ties stay in their order. Candidates that exceed a limit come last.
void sort_ranking(std::vector<Candidate>& ranking, const Calls& calls);

/// Prices suggestions, and what search_strategies finds from there, and sorts them by ranked_seconds; ties (to nine
/// digits) stay in the given order.
/// @param edges,from  see search_strategies
std::vector<Candidate> rank_suggestions(const Pricer& price, std::span<const Strategy> suggestions,
                                        const Layout& layout, std::int64_t edges, const Calls& calls = {},
                                        SearchFrom from = SearchFrom::near_routes);

/// Prices one strategy for a pattern; of an automatic one the cheapest of its family.
/// @throws NotApplicable, InputError
Candidate price(const Strategy& strategy, const Pattern& pattern, const Layout& layout, const Machine& machine,
                CostModel model = CostModel::burst, const Calls& calls = {});

/// Prices strategies and sorts them as rank_suggestions does.
/// @param strategies  empty: all that are offered (strategies_for), and what search_strategies finds from there
/// @param depth       matters only where no strategies are given
/// @param paths       where the data is (offered_paths): strategies that name no path are priced on each of these
/// @return at least one candidate, the first priced in full
/// @throws NotApplicable if a given strategy does not apply or cannot be priced on this machine; InputError
std::vector<Candidate> rank_strategies(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                       CostModel model = CostModel::burst, std::span<const Strategy> strategies = {},
                                       const Calls& calls = {}, RankingDepth depth = RankingDepth::all,
                                       std::span<const DataPath> paths = host_paths);

/// Can an all-to-all be priced without its edges? Not with relays, staggered messages and routes without uniform_runs.
bool has_closed_form(const Strategy& strategy);

/// Asks a pricer for those strategies only that have a closed form.
Pricer leave_out_open_forms(Pricer price);

/// The same for an all-to-all with equal blocks in closed form (estimate).
/// @throws NotApplicable, also if the strategy has no closed form; InputError
Candidate price_alltoall(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine,
                         CostModel model = CostModel::burst, const Calls& calls = {});

/// As rank_strategies, for an all-to-all with equal blocks in closed form. Suggestions that have none are left out.
/// @param bytes  of every block
/// @throws NotApplicable if a given strategy does not apply or has no closed form; InputError
std::vector<Candidate> rank_alltoall(Bytes bytes, const Layout& layout, const Machine& machine,
                                     CostModel model = CostModel::burst, std::span<const Strategy> strategies = {},
                                     const Calls& calls = {}, std::span<const DataPath> paths = host_paths);

}  // namespace commpass
