// bench estimate: how far is the price of a pattern by its statistics from its price by its edges, and how good is the
// choice?
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "bench/options.hpp"
#include "model/base/json.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/select.hpp"

namespace commpass::bench {
namespace {

struct Case {
  std::string pattern;
  int ppn;
};

std::vector<Case> cases(bool quick) {
  std::vector<Case> result;
  for (const int ranks : {64, quick ? 256 : 4096})
    for (const int ppn : {4, 32})
      for (const int degree : {8, 32})
        for (const int bytes : {64, 16384})
          result.push_back({fmt::format("random:ranks={},degree={},bytes={}", ranks, degree, bytes), ppn});
  for (const int side : {6, quick ? 4 : 10})
    result.push_back({fmt::format("stencil:dims={0}x{0}x{0},points=box,bytes=1024", side), side});
  for (const int ranks : {64, quick ? 128 : 512})
    result.push_back({fmt::format("power-law:ranks={},bytes=4096", ranks), 16});
  return result;
}

struct Deviation {
  double median_error = 0;  ///< of the estimates of all strategies that have one: median of |estimate ÷ price − 1|
  double median_ratio = 0;  ///< median of estimate ÷ price
  double regret = 0;        ///< price of what the estimates choose ÷ least price of all strategies, relays included
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Deviation deviation(const Case& one, const Machine& machine) {
  const auto pattern = generate_pattern(one.pattern);
  const auto layout = Layout::with_ppn(pattern.ranks, one.ppn);
  const auto price = pattern_pricer(pattern, layout, machine, CostModel::burst, {});
  const auto estimates =
      rank_suggestions(leave_out_open_forms(random_pricer(random_pattern(totals_of(pattern, layout), layout), layout,
                                                          machine, CostModel::burst, {})),
                       offered_strategies(layout, machine, CostModel::burst), layout, layout.ranks());
  std::vector<Strategy> strategies;
  for (const auto& candidate : estimates) strategies.push_back(candidate.strategy);
  const auto prices = price(strategies);
  std::vector<double> ratios, errors;
  for (std::size_t i = 0; i < prices.size(); ++i) {
    ratios.push_back(estimates[i].cost.seconds / prices[i].cost.seconds);
    errors.push_back(std::abs(ratios.back() - 1));
  }
  const auto best =
      rank_suggestions(price, offered_strategies(layout, machine, CostModel::burst), layout, pattern.messages())
          .front()
          .cost.seconds;
  return {median(errors), median(ratios), prices.front().cost.seconds / best};
}

Json estimate(const OutputOptions& options, const std::string& profile) {
  const auto machine = read_profile(profile).machine;
  Json json;
  if (!options.json)
    fmt::print(
        "| pattern | ranks a node | median of estimate / price | median error | regret |\n|---|---|---|---|---|\n");
  double error_worst = 0, regret_worst = 1, log_sum = 0;
  std::vector<double> errors;
  for (const auto& one : cases(options.quick)) {
    const auto found = deviation(one, machine);
    if (!options.json)
      fmt::print("| `{}` | {} | {:.2f} | {:.0f} % | {:.2f} |\n", one.pattern, one.ppn, found.median_ratio,
                 100 * found.median_error, found.regret);
    json["cases"].push_back({{"pattern", one.pattern},
                             {"ppn", one.ppn},
                             {"median_ratio", found.median_ratio},
                             {"median_error", found.median_error},
                             {"regret", found.regret}});
    errors.push_back(found.median_error);
    error_worst = std::max(error_worst, found.median_error);
    regret_worst = std::max(regret_worst, found.regret);
    log_sum += std::log(found.regret);
  }
  json["summary"] = {{"median_abs_error", median(errors)},
                     {"median_abs_error_worst", error_worst},
                     {"gmean", std::exp(log_sum / static_cast<double>(errors.size()))},
                     {"worst", regret_worst},
                     {"cases", errors.size()}};
  if (!options.json)
    fmt::print("\nall: median error {:.0f} %, geometric mean of the regret {:.2f}\n",
               100 * json["summary"]["median_abs_error"].get<double>(), json["summary"]["gmean"].get<double>());
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  commpass::Command command{"bench-estimate",
                            "How far prices by statistics are from prices by edges, and what choosing by them costs."};
  std::string profile = "profiles/lassen.json";
  command.add({{"--profile", &profile, "machine profile"}});
  OutputOptions options;
  return run_benchmark(command, argc, argv, "estimate", options, [&] { return estimate(options, profile); });
}
