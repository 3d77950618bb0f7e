#include "runtime/choose/selection.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "model/base/text.hpp"
#include "model/cost/sample.hpp"
#include "model/cost/value_loops.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/choose/known_wisdom.hpp"
#include "runtime/choose/shared_pricing.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/family.hpp"
#include "selector/choose/find_grid.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/profile_note.hpp"
#include "selector/choose/rank.hpp"
#include "selector/choose/shortlist.hpp"
#include "selector/choose/ties.hpp"
#include "selector/choose/trial_budget.hpp"

namespace commpass {

namespace {

/// What all edges have in common, from a few numbers of each rank.
struct Totals : MessageTotals {
  std::int64_t edges = 0;         ///< with those that move nothing between ranks
  std::int64_t messages_max = 0;  ///< that one rank sends
};

/// Collective. Edges that are out of range do not count: planning refuses them.
Totals sum_up(MPI_Comm comm, const Layout& layout, std::span<const SendEdge> sends) {
  const Rank rank = rank_in(comm);
  MessageTotals own;
  for (const auto& edge : sends)
    if (edge.destination >= 0 && edge.destination < layout.ranks()) own.add(rank, edge.destination, edge.bytes, layout);
  own.add_square();
  constexpr std::size_t counts = std::tuple_size_v<MessageTotals::Counts>;
  std::array<std::int64_t, 1 + counts> mine{std::ssize(sends)}, all{};
  std::ranges::copy(own.counts(), mine.begin() + 1);
  const auto messages = own.on_node + own.off_node;
  std::int64_t messages_max = 0;
  double bytes = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM, comm);
  COMMPASS_MPI_CALL(MPI_Allreduce, &messages, &messages_max, 1, MPI_INT64_T, MPI_MAX, comm);
  COMMPASS_MPI_CALL(MPI_Allreduce, &own.bytes, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm);
  return {MessageTotals::from(std::span(all).last<counts>(), bytes), all.front(), messages_max};
}

/// The contenders that a program's exchanges try: the first of the ranking, that one through memory of a node, and
/// those that prices cannot tell from it. None where all prices are clear.
std::vector<Contender> tied_contenders(std::span<const Candidate> ranking, const Layout& layout, const Machine& machine,
                                       const SelectionOptions& options,
                                       const std::function<Contender(const Candidate&)>& contender_of) {
  constexpr Bytes buffered_bytes_max = Bytes{8} << 20;
  const auto ties = find_ties(ranking, uncertainty_for_trials(machine, layout), options.calls);
  const auto is_affordable = [&](const Candidate& each) {
    return !options.calls ||
           each.plan_seconds.value_or(0) <= TrialBudget::default_share * *options.calls * each.cost.seconds;
  };
  const auto is_tried = [&](const Candidate& each) {
    return &each == ranking.data() || (ties.contains(each.strategy) && is_affordable(each) &&
                                       each.buffered_bytes_max.value_or(0) <= buffered_bytes_max);
  };
  if (std::ranges::count_if(ranking, is_tried) < 2) return {};
  const auto shared = may_share_memory() && layout.max_ppn() > 1 ? through_node_memory(as_run(ranking.front()))
                                                                 : std::optional<Strategy>();
  return contenders_to_try(ranking, shared ? to_string(*shared) : "", NeighborhoodCollective::is_available(),
                           contender_of, is_tried);
}

Decision decision_of(const Alternatives& alternatives, const Layout& layout, const Machine& machine,
                     const SelectionOptions& options) {
  const auto ranking = rank(alternatives, layout, machine, options.calls);
  const auto contender_of = [](const Candidate& candidate) {
    return Contender{to_string(as_run(candidate)),
                     candidate.is_part ? std::nullopt : std::optional(candidate.cost.seconds)};
  };
  const std::span<const Candidate> priced(ranking);
  const auto exceeds = [](const Candidate& candidate) { return candidate.exceeded_limit != nullptr; };
  const auto allowed = priced.first(
      static_cast<std::size_t>(std::find_if(ranking.begin() + 1, ranking.end(), exceeds) - ranking.begin()));
  const bool is_tried_later = options.how.planner == PlannerMode::adaptive;
  return {contender_of(ranking.front()),
          explain_with_note(ranking, 0, machine, layout, options.model, options.calls),
          {},
          is_tried_later ? tied_contenders(priced, layout, machine, options, contender_of)
                         : contenders_of(allowed, options.how.planner, contender_of)};
}

std::string explain_totals(const Totals& totals, const Layout& layout, std::int64_t most_edges) {
  const auto messages = static_cast<double>(totals.on_node + totals.off_node);
  const auto part = [&](double of) { return messages > 0 ? of / messages : 0; };
  return fmt::format(
      "Chosen by statistics, because {} edges are more than the {} that are gathered: priced as if every rank sent {} "
      "to {:.4g} ranks drawn at random, {:.0f} % of them on its node. "
      "The busiest rank sends {} messages.\n",
      totals.edges, most_edges, format_bytes(part(totals.bytes)), messages / layout.ranks(),
      100 * part(static_cast<double>(totals.on_node)), totals.messages_max);
}

/// What an exchange offers.
/// @param pattern  null: it is not gathered, and the totals are known alone
/// @param shared   of pricers_of
/// @param at_once  how many strategies the ranks that share them price at once
Alternatives alternatives_of(const Pattern* pattern, std::span<const Pricer> shared, std::size_t at_once,
                             const Layout& layout, const Machine& machine, const SelectionOptions& options) {
  Alternatives alternatives{.price = shared.front(),
                            .suggestions = {},
                            .edges = pattern ? pattern->messages() : layout.ranks(),
                            .has_edges = pattern != nullptr,
                            .family = options.automatic,
                            .at_once = std::max(at_once, fewest_finalists)};
  alternatives.suggestions = [&, pattern] {
    const auto paths = options.paths.empty() ? paths_of_host_data(layout, machine) : options.paths;
    return pattern ? strategies_for(*pattern, layout, machine, options.model, options.grid, paths)
                   : offered_strategies(layout, machine, options.model, Usage::planned, paths);
  };
  if (shared.size() > 1) alternatives.by_depth = {.part = shared[2], .sketch = shared[1], .sample = shared[0]};
  else if (pattern && !options.automatic)
    alternatives.price =
        price_promising(std::move(alternatives.price), *pattern, layout, machine, options.model, options.calls);
  return alternatives;
}

/// What ranks share the work of: the pricers of a very large pattern, or that of the whole alone.
std::vector<Pricer> pricers_of(const Pattern& pattern, const Layout& layout, const Machine& machine,
                               const SelectionOptions& options, unsigned threads) {
  if (!options.automatic && !options.calls)
    if (auto by_depth = pricers_by_depth(pattern, layout, machine, options.model, threads))
      return {std::move(by_depth->sample), std::move(by_depth->sketch), std::move(by_depth->part)};
  return {pattern_pricer(pattern, layout, machine, options.model, options.calls, threads, {},
                         simulated_messages_max_in_program)};
}

/// Prices strategies for the whole pattern, or for a random one with the same totals.
Decision decide_by_prices(MPI_Comm comm, const Layout& layout, const Machine& machine, std::span<const SendEdge> sends,
                          const Totals& totals, const SelectionOptions& options) {
  const bool is_gathered = totals.edges <= options.most_edges_gathered;
  auto pattern = is_gathered ? gather_pattern(comm, sends) : Pattern();
  std::size_t at_once = 1;
  const auto prices_of = [&](MPI_Comm evaluators) -> std::vector<Pricer> {
    if (!is_gathered)
      return {random_pricer(random_pattern(totals, layout), layout, machine, options.model, options.calls)};
    at_once = static_cast<std::size_t>(ranks_in(evaluators));
    share_pattern(evaluators, pattern);
    pattern.added_value_bytes = options.added_value_bytes;
    const auto threads = static_cast<unsigned>(std::max(1, most_threads_of_node(totals.edges) / layout.max_ppn()));
    std::vector<Pricer> prices;
    all_or_none(evaluators,
                [&] { prices = pricers_of(pattern, layout, machine, options, std::min(threads, options.threads)); });
    return prices;
  };
  Decision decision;
  share_pricing(comm, layout, is_gathered ? totals.edges : 0, prices_of, [&](std::span<const Pricer> shared) {
    decision = decision_of(alternatives_of(is_gathered ? &pattern : nullptr, shared, at_once, layout, machine, options),
                           layout, machine, options);
    if (!is_gathered) decision.explanation += explain_totals(totals, layout, options.most_edges_gathered);
  });
  decision = std::move(decided_by_rank_0(comm, [&] { return std::vector{decision}; }).front());
  decision.how = options.how;
  decision.calls = options.calls;
  decision.is_of_family = options.automatic.has_value();
  return decision;
}

/// The strategy that runs where nothing has a price, as rank 0 says.
Decision decide_without_prices(MPI_Comm comm, const std::string& why, const Layout& layout,
                               const SelectionOptions& options) {
  warn_unpriced(why, rank_in(comm));
  const auto strategy = options.automatic ? to_string(unpriced_member(*options.automatic, layout)) : unpriced_exchange;
  Decision decision{{strategy}, fmt::format("{}: no strategy has a price. {}\n", strategy, why), options.how};
  decision.calls = options.calls;
  decision.is_of_family = options.automatic.has_value();
  // Without prices it is not known which ones may be the best.
  if (options.how.planner == PlannerMode::adaptive)
    decision.contenders =
        with_programs_methods(std::array{Contender{strategy}}, NeighborhoodCollective::is_available());
  else if (options.how.planner != PlannerMode::estimate) decision.contenders.push_back({strategy});
  if (options.how.planner == PlannerMode::patient && !options.automatic)
    for (const auto& suggestion : suggest_strategies(layout)) decision.contenders.push_back({to_string(suggestion)});
  return decision;
}

/// The options of rank 0, with the threads of this rank. Collective.
SelectionOptions agreed(MPI_Comm comm, const SelectionOptions& mine) {
  all_or_none(comm, [&] { check_calls(mine.calls); });
  auto options = mine;
  constexpr std::int64_t most_of_mpi = std::numeric_limits<int>::max();
  options.most_edges_gathered = std::clamp<std::int64_t>(options.most_edges_gathered, 0, most_of_mpi);
  struct {
    double calls;
    std::int64_t most_edges_gathered;
    HowToChoose how;
    CostModel model;
  } word{mine.calls.value_or(0), options.most_edges_gathered, mine.how, mine.model};
  COMMPASS_MPI_CALL(MPI_Bcast, &word, sizeof(word), MPI_BYTE, 0, comm);
  options.model = word.model;
  options.how = word.how;
  options.calls = word.calls > 0 ? Calls(word.calls) : std::nullopt;
  options.most_edges_gathered = word.most_edges_gathered;
  return options;
}

}  // namespace

Decision select_strategy(MPI_Comm comm, const Layout& layout, const Machine& machine, std::span<const SendEdge> sends,
                         SelectionOptions options) {
  options = agreed(comm, options);
  if (const auto why = broadcast(comm, why_unpriced(layout, machine)); !why.empty())
    return decide_without_prices(comm, why, layout, options);
  return decide_by_prices(comm, layout, machine, sends, sum_up(comm, layout, sends), options);
}

std::vector<DataPath> paths_of_host_data(const Layout& layout, const Machine& machine) {
  if (may_share_memory()) return offered_paths(DataPlace::host, layout, machine);
  return {host_paths.begin(), host_paths.end()};
}

PlannedDecision decide_planned(const Context& context, std::span<const SendEdge> sends, bool are_values,
                               const DeviceUse& devices, SelectionOptions options,
                               const std::function<void(Decision&)>& time) {
  const MPI_Comm comm = context.comm.get();
  const auto& layout = context.layout;
  auto& wisdom = *context.wisdom;
  std::optional<WisdomKey> key;
  if (devices.is_used && !options.automatic) {
    // Shared copies are not timed. Without a path the data is staged.
    all_or_none(comm, [&] {
      auto paths =
          device_paths(layout, context.machine, !devices.is_refused, options.how.planner == PlannerMode::estimate);
      const bool has_prices = context.unpriced.empty() && !paths.empty();
      options.paths = has_prices ? std::move(paths) : std::vector<DataPath>(host_paths.begin(), host_paths.end());
    });
  } else if (wisdom.is_used && !options.automatic) {
    key = wisdom_key(comm, wisdom, sends, options.added_value_bytes > 0);
    if (auto known = recall(comm, wisdom, *key, layout, options.how.planner)) return {std::move(*known)};
  }
  std::optional<Machine> with_loops;
  if (are_values) all_or_none(comm, [&] { with_loops = with_value_loops(context.machine); });
  auto decision = select_strategy(comm, layout, with_loops ? *with_loops : context.machine, sends, options);
  if (decision.how.planner == PlannerMode::adaptive) return {std::move(decision), std::move(key)};
  if (decision.contenders.empty() || layout.ranks() == 1) return {std::move(decision)};
  time(decision);
  if (key) all_or_none(comm, [&] { keep_wisdom(wisdom, *key, decision); });
  return {std::move(decision)};
}

}  // namespace commpass
