#include "bench/few_nodes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "bench/summary.hpp"
#include "calibrate/fit/measured_prices.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"

namespace commpass::bench {
namespace {

constexpr int few = 4;  ///< nodes

FactorError factor_error(const std::vector<MeasuredTime>& times, const std::vector<std::optional<Seconds>>& predicted,
                         std::optional<int> nodes) {
  std::vector<double> ratios, factors;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (predicted[i] && (!nodes || times[i].of.nodes == *nodes)) {
      ratios.push_back(*predicted[i] / times[i].fastest_s);
      factors.push_back(factor_of(ratios.back()));
    }
  constexpr double most = 0.9;
  return {commpass::median(factors), quantile(factors, most), geometric_mean(ratios)};
}

FewNodes judge(const World& world, const DataSet& set) {
  const auto path = fmt::format("{}/{}.csv", world.tables, set.name);
  const auto all = read_measured_times(path);
  const auto stalled = stalled_times(all);
  std::vector<MeasuredTime> known, asked;
  for (const auto& time : all)
    if (time.of.nodes <= few) known.push_back(time);
    else if (!stalled.contains({time.of, time.algorithm})) asked.push_back(time);
  const auto [machine, sockets] = judged_machine(world, all.front().of.machine, set.profile);
  FewNodes result{set.name, machine.name, fit_exchanges(machine, known, sockets, path), {}};
  const auto blind = predicted_seconds(asked, machine, sockets);
  const auto corrected = predicted_seconds(asked, result.fit.machine, sockets);
  std::map<int, int> times;
  for (std::size_t i = 0; i < asked.size(); ++i) times[asked[i].of.nodes] += blind[i].has_value();
  int sum = 0;
  for (const auto& [nodes, count] : times) sum += count;
  result.errors.push_back({fmt::format("{} to {}", times.begin()->first, times.rbegin()->first), sum,
                           factor_error(asked, blind, {}), factor_error(asked, corrected, {})});
  for (const auto& [nodes, count] : times)
    result.errors.push_back(
        {std::to_string(nodes), count, factor_error(asked, blind, nodes), factor_error(asked, corrected, nodes)});
  return result;
}

}  // namespace

std::vector<FewNodes> judge_few_nodes(const World& world) {
  std::vector<FewNodes> judged;
  for (const auto& set : data_sets())
    if (set.has_few_nodes) judged.push_back(judge(world, set));
  return judged;
}

Json bounded_figures(const std::vector<FewNodes>& sets) {
  auto json = Json::object();
  for (const auto& judged : sets) {
    const auto& error = judged.errors.front().corrected;
    const auto add = [&](const std::string& figure, double value) {
      json[judged.set + ".few_nodes_" + figure] = value;
    };
    add("median_factor", error.median);
    add("p90_factor", error.p90);
    add("bias_factor", std::max(error.bias, 1 / error.bias));
    add("held_out_median_factor", judged.fit.after);
  }
  return json;
}

DocumentTable few_nodes_table(const std::vector<FewNodes>& sets) {
  DocumentTable table{
      "| data set | nodes | prices | blind: median factor | 90 % within | bias | imported: median factor | 90 % within "
      "| "
      "bias |",
      "|---|---|---|---|---|---|---|---|---|\n"};
  const auto cells = [](const FactorError& error) {
    return fmt::format("{} | {} | {}", format_fixed(error.median, 2), format_fixed(error.p90, 2),
                       format_fixed(error.bias, 2));
  };
  for (const auto& judged : sets)
    for (const auto& error : judged.errors)
      table.rows += fmt::format("| {} | {} | {} | {} | {} |\n", judged.set, error.nodes, error.times,
                                cells(error.blind), cells(error.corrected));
  return table;
}

}  // namespace commpass::bench
