#include "runtime/alltoall/alltoallv_prices.hpp"

#include <algorithm>
#include <utility>

#include "model/base/error.hpp"
#include "model/cost/plan_cost.hpp"
#include "model/cost/survey_interval.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

Strategy parse_one_shot_strategy(const std::string& text) {
  auto strategy = parse_strategy(text);
  if (pattern_need(strategy) != PatternNeed::nothing)
    throw NotApplicable(text,
                        "its ways depend on the whole pattern, which an exchange that is run once does not gather");
  return strategy;
}

const std::string& decisions_for(const std::string& named, const DeviceUse& devices) {
  static const std::string staged = "@staged", any_path = "@device";
  if (!named.empty() || !devices.is_used) return named;
  return devices.is_refused ? staged : any_path;
}

namespace {

/// But for the memory through which messages go.
bool are_data_alike(const Candidate& one, const Candidate& other) {
  auto path = one.strategy.path;
  path.is_shared = other.strategy.path.is_shared;
  return path == other.strategy.path;
}

}  // namespace

Decision decide_alltoallv(const std::string& named, const RandomPattern& blocks, BlockSizes sizes,
                          const DeviceUse& devices, bool shares, PlannerMode planner, const Layout& layout,
                          const Machine& machine) {
  std::vector<Strategy> given;
  DataPath path;
  if (!named.empty()) {
    given.push_back(parse_strategy(named));
    path = std::exchange(given.front().path, {});
  }
  const bool times_all = planner == PlannerMode::patient && named.empty();
  std::vector<DataPath> paths;
  if (devices.is_used) paths = device_paths(layout, machine, !devices.is_refused, false);
  else if (shares) paths = offered_paths(DataPlace::host, layout, machine);
  auto ranking = rank_one_shot(blocks, layout, machine, CostModel::burst, given, sizes,
                               times_all ? RankingDepth::all : RankingDepth::cheapest,
                               paths.empty() ? std::span<const DataPath>(host_paths) : paths);
  if (!named.empty()) ranking.front().strategy.path = path;
  const auto choice_of = [&](const Candidate& candidate) {
    return Contender{to_string(as_run(candidate)), candidate.cost.seconds,
                     survey_interval(candidate.cost.seconds, small_collective_seconds(layout, machine))};
  };
  Decision decision{choice_of(ranking.front())};
  if (planner == PlannerMode::estimate || !named.empty()) return decision;
  // Where memory of a node has no price, it is tried: with the best by price, on one node always.
  std::string unpriced;
  if (shares && !devices.is_used && !lacking(shared_host_path, machine).empty()) {
    auto shared = through_node_memory(as_run(ranking.front()));
    if (!shared && layout.nodes() == 1) shared = through_node_memory(parse_strategy("standard"));
    if (shared) unpriced = to_string(*shared);
  }
  const std::span<const Candidate> ranked(ranking);
  if (planner == PlannerMode::adaptive) {
    const auto& best = ranking.front();
    const auto ties = find_ties(ranking, uncertainty_for_trials(machine, layout));
    decision.contenders = contenders_to_try(ranked, unpriced, true, choice_of, [&](const Candidate& each) {
      return &each == &best || (ties.contains(each.strategy) && are_data_alike(each, best));
    });
  } else {
    decision.contenders = with_programs_methods(contenders_of(ranked, planner, choice_of), true);
    try_behind(decision.strategy, unpriced, decision.contenders);
  }
  return decision;
}

}  // namespace commpass
