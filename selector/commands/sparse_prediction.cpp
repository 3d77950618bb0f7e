#include "selector/commands/prediction.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "model/base/error.hpp"
#include "model/pattern/sparse_traffic.hpp"
#include "selector/choose/ties.hpp"
#include "selector/commands/switches.hpp"

namespace commpass {

namespace {

constexpr const char* plain = "direct+nbx";

void require_sparse_switches(const SelectionArguments& selection) {
  if (selection.calls)
    throw InputError("--calls", "a sparse exchange has no plan: each call finds its receivers anew", "leave it out");
  if (selection.place() != DataPlace::host)
    throw InputError("--memory device", "sparse exchanges are priced for data in host memory only", "leave it out");
  if (selection.cost_model() != CostModel::burst)
    throw InputError("--model " + selection.model, "sparse exchanges are priced by the model burst only",
                     "leave it out");
}

/// What ranks send, and how it is told.
struct SparseExchange {
  int ranks = 0;
  std::function<SparseTraffic(const Layout&)> traffic;
};

SparseExchange exchange_of(const PredictArguments& arguments, bool constant_size) {
  if (const auto alltoall = arguments.pattern.large_alltoall())
    return {alltoall->ranks,
            [bytes = alltoall->bytes](const Layout& layout) { return traffic_of_alltoall(bytes, layout); }};
  auto pattern = arguments.pattern.load();
  require_plain_messages(pattern, constant_size);
  const int ranks = pattern.ranks;
  return {ranks, [pattern = std::move(pattern)](const Layout& layout) { return traffic_of(pattern, layout); }};
}

std::vector<SparseRow> rows_of(const SparseChoice& choice, const SparseTraffic& traffic) {
  std::vector<SparseRow> rows;
  for (const auto& [strategy, seconds, exceeds_limit] : choice.rank(traffic))
    rows.push_back({strategy, seconds, choice.stages(strategy, traffic), exceeds_limit});
  return rows;
}

}  // namespace

Predicted<SparseReport> predict_sparse(const PredictArguments& arguments) {
  const auto& selection = arguments.selection;
  require_sparse_switches(selection);
  const auto environment = read_environment();
  const bool constant_size = arguments.sparse == "constant";
  std::vector<SparseStrategy> named;
  for (const auto& text : selection.strategy_names()) named.push_back(parse_sparse_strategy(text));
  std::optional<SparseStrategy> explained;
  if (!selection.explain.empty()) explained = parse_sparse_strategy(selection.explain);
  auto profile = selection.load_profile(environment);
  const auto exchange = exchange_of(arguments, constant_size);
  const auto layout = required_layout(selection.layout, exchange.ranks, environment);
  const auto traffic = exchange.traffic(layout);
  const auto& machine = profile.machine;
  const auto price_one = [&](const SparseStrategy& strategy) {
    const auto reason = why_no_price(strategy, layout, machine, constant_size);
    if (!reason.empty()) throw NotApplicable(to_string(strategy), reason);
    return rows_of(SparseChoice(layout, machine, std::vector{strategy}), traffic).front();
  };

  SparseReport report;
  std::vector<SparseStrategy> priced;
  for (const auto& strategy : named) {
    const auto reason = why_no_price(strategy, layout, machine, constant_size);
    if (!reason.empty()) report.not_priced.push_back({to_string(strategy), reason});
    else if (std::ranges::find(priced, strategy) == priced.end()) priced.push_back(strategy);
  }
  if (!named.empty() && priced.empty()) throw NotApplicable(report.not_priced[0].strategy, report.not_priced[0].reason);
  report.rows = rows_of(
      named.empty() ? SparseChoice(layout, machine, constant_size) : SparseChoice(layout, machine, priced), traffic);
  if (to_string(report.rows.front().strategy) != plain) report.plain = price_one(parse_sparse_strategy(plain));
  if (!machine.operations.probe_s) report.note = "profile " + machine.name + " has no operations.probe_s: taken as 0";
  if (const auto exceeding = std::ranges::count(report.rows, true, &SparseRow::exceeds_limit); exceeding > 0)
    report.note += fmt::format("{}strategies that exceed limits.unexpected_messages come last ({} of {})",
                               report.note.empty() ? "" : "; ", exceeding, report.rows.size());
  report.uncertainty = uncertainty_of(machine);
  report.context = {{"profile", machine.name},
                    {"layout", layout.describe()},
                    {"ranks", std::to_string(exchange.ranks)},
                    {"pattern", arguments.pattern.describe()},
                    {"sizes", arguments.sparse}};
  selection.add_settings(report.context);
  const auto explanation = explained ? explain_sparse(report, price_one(*explained)) : std::string();
  return {std::move(profile), layout, std::move(report), explanation};
}

}  // namespace commpass
