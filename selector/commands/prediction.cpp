#include "selector/commands/prediction.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/machine/profile_origin.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/explain.hpp"
#include "selector/choose/find_grid.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/neighborhood_choice.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/profile_note.hpp"

namespace commpass {

namespace {

/// @throws InputError for data on devices
void require_host(DataPlace place, const std::string& what, const std::string& remedy) {
  if (place != DataPlace::host)
    throw InputError("--memory device", what + " is priced for data in host memory only", remedy);
}

/// Of an exchange that is called once the ranks know only how many blocks there are, and of how many bytes.
Pricing one_shot_pricing(int ranks, std::string evaluation,
                         const std::function<RandomPattern(const Layout&)>& blocks_of, const Machine& machine,
                         CostModel model, const Calls& calls, DataPlace place) {
  require_host(place, "an exchange that is called once",
               "leave --one-shot out, or use --generate alltoall:… for an all-to-all with equal blocks");
  if (calls)
    throw InputError("--calls", "an exchange that is called once is not planned",
                     "leave it out, or --one-shot, or use --generate uniform:…, normal:… or power-law:…");
  return {ranks, std::move(evaluation), [=, &machine](const Layout& layout, std::span<const Strategy> strategies) {
            return rank_one_shot(blocks_of(layout), layout, machine, model, strategies, BlockSizes::told,
                                 RankingDepth::all, offered_paths(DataPlace::host, layout, machine));
          }};
}

/// Of a Cartesian neighbourhood the ways on its grid are considered, too; of many edges these alone.
Pricing cartesian_pricing(const CartesianPattern& given, const Machine& machine, CostModel model, const Calls& calls,
                          DataPlace place) {
  constexpr std::int64_t most_with_edges = 1 << 19;
  const auto cartesian = std::make_shared<const CartesianPattern>(given);
  const auto& neighborhood = cartesian->neighborhood;
  const int ranks = neighborhood.grid.ranks();
  if (std::int64_t{ranks} * neighborhood.size() <= most_with_edges) {
    const auto pattern = std::make_shared<const Pattern>(pattern_of(neighborhood, cartesian->sizes));
    return {ranks, {}, [=, &machine](const Layout& layout, std::span<const Strategy> strategies) {
              const auto paths = offered_paths(place, layout, machine);
              if (!strategies.empty())
                return rank_strategies(*pattern, layout, machine, model, strategies, calls, RankingDepth::all, paths);
              const auto suggestions = [&] {
                auto all = offered_strategies(layout, machine, model, Usage::planned, paths);
                for (auto& strategy : offered_on_grid(cartesian->neighborhood, layout, machine, model, paths))
                  all.push_back(std::move(strategy));
                return all;
              };
              return rank({.price = pattern_pricer(*pattern, layout, machine, model, calls),
                           .suggestions = suggestions,
                           .edges = pattern->messages()},
                          layout, machine, calls);
            }};
  }
  require_host(place, "a neighbourhood with very many edges", "use a smaller grid");
  if (calls)
    throw InputError("--calls", "neighbourhoods with very many edges are planned by each rank alone",
                     "leave it out, or use a smaller grid");
  return {ranks, "a sample, the central node of the grid",
          [=, &machine](const Layout& layout, std::span<const Strategy> strategies) {
            const auto unit = NeighborBytes::equal(cartesian->neighborhood, 1, cartesian->sizes.is_same);
            return NeighborhoodPricer(cartesian->neighborhood, unit, layout, machine, model)
                .rank(strategies, std::ranges::max(cartesian->sizes.bytes));
          }};
}

/// The candidate that --explain names, priced if it is not among the ranking.
std::size_t find_or_price(const std::string& text, std::vector<Candidate>& ranking, const Layout& layout,
                          const Pricing& pricing, const Machine& machine, const Calls& calls, DataPlace place) {
  auto strategy = parse_strategy(text);
  require_place(strategy, place);
  const bool names_no_path = place == DataPlace::device && strategy.path.is_host();
  if (is_automatic(strategy) || names_no_path) strategy = pricing.price_one(layout, strategy).strategy;
  const auto found = std::ranges::find(ranking, strategy, &Candidate::strategy);
  if (found != ranking.end()) return static_cast<std::size_t>(found - ranking.begin());
  auto candidate = pricing.price_one(layout, strategy);
  ranking.push_back(std::move(candidate));
  sort_ranking(ranking, calls);
  ranking = prefer_simplest_of_ties(std::move(ranking), machine, calls);
  return static_cast<std::size_t>(std::ranges::find(ranking, strategy, &Candidate::strategy) - ranking.begin());
}

}  // namespace

std::optional<Alltoall> PredictArguments::closed_alltoall() const {
  return prefers_closed_form ? parse_alltoall(pattern.generator) : pattern.large_alltoall();
}

Pricing pricing_of(const PredictArguments& predicted, const Machine& machine, CostModel model) {
  const auto& arguments = predicted.pattern;
  const auto& calls = predicted.selection.calls;
  const auto place = predicted.selection.place();
  if (const auto alltoall = predicted.one_shot ? std::nullopt : predicted.closed_alltoall()) {
    const auto bytes = alltoall->bytes;
    return {alltoall->ranks, "closed form", [=, &machine](const Layout& layout, std::span<const Strategy> strategies) {
              return rank_alltoall(bytes, layout, machine, model, strategies, calls,
                                   offered_paths(place, layout, machine));
            }};
  }
  const auto closed_one_shot = [&](int ranks, const RandomPattern& blocks) {
    return one_shot_pricing(
        ranks,
        fmt::format("called once, closed form by blocks of {:.0f} B on average, with telling sizes",
                    blocks.block_bytes),
        [=](const Layout&) { return blocks; }, machine, model, calls, place);
  };
  if (const auto alltoall = arguments.one_shot_alltoall())
    return closed_one_shot(alltoall->ranks,
                           {.block_bytes = alltoall->mean_bytes, .size_variance = alltoall->size_variance});
  if (const auto alltoall = arguments.large_alltoall(); alltoall && predicted.one_shot)
    return closed_one_shot(alltoall->ranks, {.block_bytes = static_cast<double>(alltoall->bytes)});
  if (const auto cartesian = predicted.one_shot ? std::nullopt : arguments.cartesian())
    return cartesian_pricing(*cartesian, machine, model, calls, place);
  const auto pattern = std::make_shared<const Pattern>(arguments.load());
  if (predicted.one_shot)
    return one_shot_pricing(
        pattern->ranks, "called once, by the number of blocks and their sizes, with telling sizes",
        [pattern](const Layout& layout) { return random_pattern(totals_of(*pattern, layout), layout); }, machine, model,
        calls, place);
  return {pattern->ranks,
          {},
          [=, &machine, depth = predicted.depth()](const Layout& layout, std::span<const Strategy> strategies) {
            return rank_strategies(*pattern, layout, machine, model, strategies, calls, depth,
                                   offered_paths(place, layout, machine));
          }};
}

Layout required_layout(const LayoutArguments& arguments, int ranks, const Environment& environment) {
  if (auto layout = arguments.find(ranks, environment)) return *layout;
  throw InputError("layout", "it is missing", "add --ppn M (ranks on a node) or --layout SPEC");
}

std::vector<Strategy> remove_parts(std::vector<Candidate>& ranking) {
  std::vector<Strategy> removed;
  for (const auto& candidate : ranking)
    if (candidate.is_part) removed.push_back(candidate.strategy);
  std::erase_if(ranking, &Candidate::is_part);
  return removed;
}

/// Sorts by the least use of a resource, of equals the fastest first.
/// @throws InputError if the use of a candidate is not known
void order_by(const std::string& objective, std::vector<Candidate>& ranking) {
  if (objective == objective_time) return;
  const auto amount_of = [&](const Candidate& candidate) {
    if (objective == objective_memory && candidate.buffered_bytes_max) return *candidate.buffered_bytes_max;
    if (objective == objective_partners && candidate.demand) return candidate.demand->partners;
    throw InputError("--objective " + objective, "closed forms do not tell it of " + to_string(candidate.strategy),
                     "use a pattern of fewer ranks, whose messages are priced one by one");
  };
  std::ranges::stable_sort(
      ranking, {}, [&](const Candidate& candidate) { return std::pair(excess(candidate), amount_of(candidate)); });
}

std::vector<ReportRow> missing_baselines(std::span<const Candidate> ranking, const Layout& layout,
                                         const Pricing& pricing, CostModel model, DataPlace place) {
  std::vector<ReportRow> rows;
  for (const auto& baseline : baselines(place)) {
    // The papers' models know nothing of what the library's collective adds, and would price it as sending directly.
    if (model != CostModel::burst && catalogue_row(baseline.strategy.route).lacks) continue;
    if (std::ranges::find(ranking, baseline.strategy, &Candidate::strategy) != ranking.end()) continue;
    try {
      rows.push_back({pricing.price_one(layout, baseline.strategy), {}});
    } catch (const NotApplicable&) {  // it has no price here
    }
  }
  return rows;
}

Predicted<Report> make_prediction(const PredictArguments& arguments) {
  const auto& selection = arguments.selection;
  const auto environment = read_environment();
  const auto model = selection.cost_model();
  const auto place = selection.place();
  const auto cartesian = arguments.pattern.cartesian();
  const auto strategies = selection.named_strategies(cartesian);
  auto profile = selection.load_profile(environment);
  const auto pricing = pricing_of(arguments, profile.machine, model);
  const auto layout = required_layout(selection.layout, pricing.ranks, environment);

  Report report;
  auto ranking = rank_named(
      strategies, [&](std::span<const Strategy> some) { return pricing.rank(layout, some); }, report.not_priced);
  report.pruned = remove_parts(ranking);
  order_by(arguments.objective, ranking);
  report.context = {{"profile", profile.machine.name},
                    {"layout", layout.describe()},
                    {"ranks", std::to_string(pricing.ranks)},
                    {"pattern", arguments.pattern.describe()},
                    {"model", name_of(model)},
                    {"memory", selection.memory}};
  selection.add_settings(report.context);
  const bool is_for_time = arguments.objective == objective_time;
  if (!is_for_time) report.context.emplace_back("objective", "least " + arguments.objective);
  if (selection.calls) report.context.emplace_back("calls", fmt::format("{}", *selection.calls));
  if (!pricing.evaluation.empty()) report.context.emplace_back("evaluation", pricing.evaluation);
  const auto ties_of = [&](std::span<const Candidate> candidates) {
    return is_for_time ? find_ties(candidates, uncertainty_of(profile.machine), selection.calls) : Ties();
  };
  report.chosen = to_string(ranking.front().strategy);
  std::string explanation;
  if (!selection.explain.empty()) {
    const auto explained = cartesian ? on_grid(selection.explain, cartesian->neighborhood) : selection.explain;
    const auto index = find_or_price(explained, ranking, layout, pricing, profile.machine, selection.calls, place);
    auto compared = ranking;
    for (const auto& row : missing_baselines(ranking, layout, pricing, model, place)) compared.push_back(row.candidate);
    explanation =
        explain(compared, index, selection.calls, ties_of(ranking)) + describe_origin(profile, std::time(nullptr));
    report.chosen = to_string(ranking.front().strategy);
  }
  std::vector<std::string> notes{limits_note(profile.machine, ranking),
                                 profile_note(profile.machine, layout, model, ranking)};
  std::erase(notes, std::string());
  report.note = join(notes, "; ");
  report.calls = selection.calls;
  report.ties = ties_of(ranking);
  report.shows_all_points = arguments.all_points || !strategies.empty();
  report.baselines = missing_baselines(ranking, layout, pricing, model, place);
  for (auto& candidate : ranking) report.rows.push_back({std::move(candidate), {}});
  return {std::move(profile), layout, std::move(report), std::move(explanation)};
}

}  // namespace commpass
