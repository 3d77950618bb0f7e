// commpass predict: what each strategy would cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "model/error.hpp"
#include "model/profile.hpp"
#include "selector/arguments.hpp"
#include "selector/commands/commands.hpp"
#include "selector/dense_choice.hpp"
#include "selector/report.hpp"

namespace commpass {

namespace {

struct PredictArguments {
  PatternArguments pattern;
  SelectionArguments selection;
};

/// How candidates are priced: from the edges of a pattern, or in closed form.
struct Pricing {
  int ranks = 0;
  std::string evaluation;  ///< if it is no exact one, what it is
  std::function<std::vector<Candidate>(const Layout&, std::span<const Strategy>)> rank;
  std::function<Candidate(const Layout&, const Strategy&)> price_one;
};

Pricing pricing_of(const PatternArguments& arguments, const Machine& machine, CostModel model, const Calls& calls) {
  if (const auto alltoall = arguments.large_alltoall()) {
    const auto bytes = alltoall->bytes;
    return {alltoall->ranks, "closed form", [=, &machine](const Layout& layout, std::span<const Strategy> strategies) { return rank_alltoall(bytes, layout, machine, model, strategies, calls); },
            [=, &machine](const Layout& layout, const Strategy& strategy) { return price_alltoall(strategy, bytes, layout, machine, model, calls); }};
  }
  if (const auto alltoall = arguments.one_shot_alltoall()) {
    if (calls) throw InputError("--calls", "an exchange that is called once is not planned", "leave it out, or use --generate uniform:…, normal:… or power-law:…");
    const auto bytes = static_cast<Bytes>(std::llround(alltoall->mean_bytes));
    return {alltoall->ranks, fmt::format("called once, closed form by the mean block of {} B, with telling sizes", bytes),
            [=, &machine](const Layout& layout, std::span<const Strategy> strategies) { return rank_one_shot(bytes, layout, machine, model, strategies); },
            [=, &machine](const Layout& layout, const Strategy& strategy) { return price_one_shot(strategy, bytes, layout, machine, model); }};
  }
  const auto pattern = std::make_shared<const Pattern>(arguments.load());
  return {pattern->ranks, {}, [=, &machine](const Layout& layout, std::span<const Strategy> strategies) { return rank_strategies(*pattern, layout, machine, model, strategies, calls); },
          [=, &machine](const Layout& layout, const Strategy& strategy) { return price(strategy, *pattern, layout, machine, model, calls); }};
}

/// The candidate that --explain names, priced if it is not among the ranking.
std::size_t find_or_price(const std::string& text, std::vector<Candidate>& ranking, const Layout& layout, const Pricing& pricing, const Calls& calls) {
  auto strategy = parse_strategy(text);
  if (is_automatic(strategy)) strategy = pricing.price_one(layout, strategy).strategy;
  const auto found = std::ranges::find(ranking, strategy, &Candidate::strategy);
  if (found != ranking.end()) return static_cast<std::size_t>(found - ranking.begin());
  auto candidate = pricing.price_one(layout, strategy);
  const auto place = std::ranges::upper_bound(ranking, ranked_seconds(candidate, calls), {}, [&](const Candidate& c) { return ranked_seconds(c, calls); });
  const auto index = place - ranking.begin();
  ranking.insert(place, std::move(candidate));
  return static_cast<std::size_t>(index);
}

void predict(const PredictArguments& arguments) {
  const auto& selection = arguments.selection;
  const auto environment = read_environment();
  const auto model = selection.cost_model();
  const auto strategies = selection.named_strategies();
  const auto profile = read_profile(selection.find_profile(environment));
  const auto pricing = pricing_of(arguments.pattern, profile.machine, model, selection.calls);
  const auto layout = selection.layout.find(pricing.ranks, environment);
  if (!layout) throw InputError("layout", "it is missing", "add --ppn M (ranks on a node) or --layout SPEC");

  auto ranking = pricing.rank(*layout, strategies);
  Report report;
  report.context = {{"profile", profile.machine.name},
                    {"layout", layout->describe()},
                    {"ranks", std::to_string(pricing.ranks)},
                    {"pattern", arguments.pattern.describe()},
                    {"model", name_of(model)},
                    {"memory", selection.memory}};
  if (selection.calls) report.context.emplace_back("calls", fmt::format("{}", *selection.calls));
  if (!pricing.evaluation.empty()) report.context.emplace_back("evaluation", pricing.evaluation);
  report.chosen = to_string(ranking.front().strategy);
  std::string explanation;
  if (!selection.explain.empty()) {
    const auto index = find_or_price(selection.explain, ranking, *layout, pricing, selection.calls);
    explanation = explain(ranking, index, selection.calls);
    report.chosen = to_string(ranking.front().strategy);
  }
  for (auto& candidate : ranking) report.rows.push_back({std::move(candidate), {}});
  selection.print(report, explanation);
}

}  // namespace

void add_predict(CLI::App& app, std::function<void()>& command) {
  auto arguments = std::make_shared<PredictArguments>();
  auto* sub = app.add_subcommand("predict", "what each strategy would cost for a pattern, without running anything");
  arguments->pattern.add_to(*sub);
  arguments->selection.add_to(*sub);
  sub->footer(catalogue_help());
  sub->callback([arguments, &command] { command = [arguments] { predict(*arguments); }; });
}

}  // namespace commpass
