// commpass predict: what each strategy would cost.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "model/error.hpp"
#include "model/profile.hpp"
#include "selector/arguments.hpp"
#include "selector/commands/commands.hpp"
#include "selector/report.hpp"

namespace commpass {

namespace {

struct PredictArguments {
  PatternArguments pattern;
  SelectionArguments selection;
};

/// The candidate that --explain names, priced if it is not among the ranking.
std::size_t find_or_price(const std::string& text, std::vector<Candidate>& ranking, const Pattern& pattern, const Layout& layout,
                          const Machine& machine, CostModel model) {
  const auto strategy = parse_strategy(text);
  const auto found = std::ranges::find(ranking, strategy, &Candidate::strategy);
  if (found != ranking.end()) return static_cast<std::size_t>(found - ranking.begin());
  auto candidate = price(strategy, pattern, layout, machine, model);
  const auto place = std::ranges::upper_bound(ranking, candidate.cost.seconds, {}, [](const Candidate& c) { return c.cost.seconds; });
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
  const auto pattern = arguments.pattern.load();
  const auto layout = selection.layout.find(pattern.ranks, environment);
  if (!layout) throw InputError("layout", "it is missing", "add --ppn M (ranks on a node) or --layout SPEC");

  auto ranking = rank_strategies(pattern, *layout, profile.machine, model, strategies);
  Report report;
  report.context = {{"profile", profile.machine.name},
                    {"layout", layout->describe()},
                    {"ranks", std::to_string(pattern.ranks)},
                    {"pattern", arguments.pattern.describe()},
                    {"model", name_of(model)},
                    {"memory", selection.memory}};
  report.chosen = to_string(ranking.front().strategy);
  std::string explanation;
  if (!selection.explain.empty()) {
    const auto index = find_or_price(selection.explain, ranking, pattern, *layout, profile.machine, model);
    explanation = explain(ranking, index);
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
