// bench selection: how long does it take to choose, for very many ranks?
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>

#include "bench/options.hpp"
#include "bench/stopwatch.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/cost/sample.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/finalists.hpp"
#include "selector/choose/find_grid.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/select.hpp"

namespace commpass::bench {
namespace {

constexpr Bytes block_bytes = 64;
constexpr int degree = 50, ppn = 32;

/// The most memory that the process has had so far.
Bytes peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr Bytes kibibyte = 1024;  // the unit of ru_maxrss on Linux
  return usage.ru_maxrss * kibibyte;
}

/// A choice that very many ranks share: what all of them do, and what one of them waits for. In seconds of a processor.
struct Shared {
  int ranks = 0;
  Seconds work = 0;
  Seconds share = 0;  ///< what rank 0 does alone, and of all else the longest share of a rank, one after another
  Seconds longest_price = 0;  ///< of strategies that need one schedule
  Strategy chosen{};
  double regret = 0;  ///< by the price that simulates all messages; 0: chosen is none that has one
};

/// A pricer that is timed as if ranks shared it: strategies that need one schedule are of one rank, ranks take turns.
Pricer timed(const Pricer& price, Shared& shared) {
  return [&](std::span<const Strategy> strategies) {
    std::vector<Candidate> candidates(strategies.size());
    const auto groups = by_route(strategies);
    std::vector<Seconds> of_rank(static_cast<std::size_t>(shared.ranks), 0);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::vector<Strategy> own;
      for (const auto i : groups[g]) own.push_back(strategies[i]);
      std::vector<Candidate> priced;
      const auto seconds = processor_seconds_of([&] { priced = price(own); });
      for (std::size_t i = 0; i < own.size(); ++i) candidates[groups[g][i]] = std::move(priced[i]);
      of_rank[g % of_rank.size()] += seconds;
      shared.work += seconds;
      shared.longest_price = std::max(shared.longest_price, seconds);
    }
    shared.share += std::ranges::max(of_rank);
    return candidates;
  };
}

/// The choice as select_strategy makes it, but for gathering the pattern, with as many ranks as it takes for pricing.
/// @return nothing if the pattern is too small to be looked at by sketches
std::optional<Shared> time_shared(const Pattern& pattern, const Layout& layout, const Machine& machine) {
  Shared shared;
  shared.ranks = static_cast<int>(by_route(suggest_strategies(layout)).size());
  std::optional<PricersByDepth> price;
  // Each of them prepares the pattern.
  const auto preparing =
      processor_seconds_of([&] { price = pricers_by_depth(pattern, layout, machine, CostModel::burst, 1); });
  if (!price) return std::nullopt;
  std::vector<Strategy> suggestions;
  const auto suggesting = processor_seconds_of(
      [&] { suggestions = strategies_for(pattern, layout, machine, CostModel::burst, {}, host_paths); });
  const auto ranking =
      rank_finalists({timed(price->part, shared), timed(price->sketch, shared), timed(price->sample, shared)},
                     suggestions, layout, machine, pattern.messages(), static_cast<std::size_t>(shared.ranks));
  shared.chosen = ranking.front().strategy;
  shared.work += preparing + suggesting;
  shared.share += preparing + suggesting;
  return shared;
}

/// How long it takes to price an all-to-all in closed form, routes included.
struct ClosedForms {
  std::size_t ranked = 0;   ///< strategies in the ranking, those that the search tries included
  Seconds ranking = 0;      ///< rank_alltoall: all of them, one after another
  Seconds suggestions = 0;  ///< the suggested ones alone
  Seconds standard = 0;
  Seconds longest = 0;  ///< of the suggested ones
  std::string longest_strategy;
};

/// The times are the least of some repetitions.
ClosedForms time_closed_forms(const Layout& layout, const Machine& machine, int repetitions) {
  ClosedForms result;
  result.ranking =
      least_seconds_of(repetitions, [&] { result.ranked = rank_alltoall(block_bytes, layout, machine).size(); });
  std::vector<Strategy> suggestions = offered_strategies(layout, machine, CostModel::burst);
  std::erase_if(suggestions, [](const Strategy& s) { return !has_closed_form(s); });
  result.suggestions = least_seconds_of(
      repetitions, [&] { rank_alltoall(block_bytes, layout, machine, CostModel::burst, suggestions); });
  for (const auto& strategy : suggestions) {
    const auto seconds = least_seconds_of(repetitions, [&] { price_alltoall(strategy, block_bytes, layout, machine); });
    if (to_string(strategy) == "standard") result.standard = seconds;
    if (seconds > result.longest) {
      result.longest = seconds;
      result.longest_strategy = to_string(strategy);
    }
  }
  return result;
}

Json selection(const OutputOptions& options, const std::string& profile) {
  const auto machine = read_profile(profile).machine;
  const int repetitions = options.quick ? 1 : 5;
  if (!options.json)
    fmt::print(
        "{:>7} {:>9} {:>11} {:>8} {:>12} {:>12} {:>7} {:>9} {:>9} {:>12} {:>12} {:>11} {:>12}   (longest: strategy)\n",
        "ranks", "messages", "strategies", "in full", "selection", "all in full", "regret", "work", "share",
        "peak memory", "all-to-all", "strategies", "suggestions");
  Json json;
  for (const int ranks : {1024, 4096, 16384}) {
    const auto layout = Layout::with_ppn(ranks, ppn);
    const auto pattern =
        generate_pattern(fmt::format("random:ranks={},degree={},bytes={}", ranks, degree, block_bytes));
    std::vector<Candidate> ranking;
    const auto rank_to = [&](RankingDepth depth) {
      return least_seconds_of(
          repetitions, [&] { ranking = rank_strategies(pattern, layout, machine, CostModel::burst, {}, {}, depth); });
    };
    const auto seconds_all = rank_to(RankingDepth::all);
    const auto all_in_full = ranking;
    const auto cheapest = all_in_full.front().cost.seconds;
    const auto seconds = rank_to(RankingDepth::cheapest);
    const auto regret = ranking.front().cost.seconds / cheapest;
    auto shared = time_shared(pattern, layout, machine);
    for (int i = 1; shared && i < repetitions; ++i)
      shared = std::ranges::min(*shared, *time_shared(pattern, layout, machine), {}, &Shared::share);
    if (shared)
      if (const auto chosen = std::ranges::find(all_in_full, shared->chosen, &Candidate::strategy);
          chosen != all_in_full.end())
        shared->regret = chosen->cost.seconds / cheapest;
    const auto in_full = std::ranges::count(ranking, false, &Candidate::is_part);
    const auto peak = peak_bytes();
    constexpr int more = 4;  // a closed form takes so little time that more repetitions are cheap
    const auto closed = time_closed_forms(layout, machine, more * repetitions);
    if (!options.json)
      fmt::print("{:>7} {:>9} {:>11} {:>8} {:>12} {:>12} {:>7.4f} {:>9} {:>9} {:>12} {:>12} {:>11} {:>12}   ({}: {})\n",
                 ranks, pattern.edges.size(), ranking.size(), in_full, format_seconds(seconds),
                 format_seconds(seconds_all), regret, shared ? format_seconds(shared->work) : "-",
                 shared ? format_seconds(shared->share) : "-", format_bytes(static_cast<double>(peak)),
                 format_seconds(closed.ranking), closed.ranked, format_seconds(closed.suggestions),
                 format_seconds(closed.longest), closed.longest_strategy);
    Json row{{"ranks", ranks},
             {"messages", pattern.edges.size()},
             {"strategies", ranking.size()},
             {"strategies_in_full", in_full},
             {"seconds", seconds},
             {"seconds_all_in_full", seconds_all},
             {"regret", regret},
             {"bytes_peak", peak},
             {"closed_form_strategies", closed.ranked},
             {"closed_form_seconds", closed.ranking},
             {"closed_form_seconds_suggestions", closed.suggestions},
             {"closed_form_seconds_standard", closed.standard},
             {"closed_form_seconds_longest", closed.longest},
             {"closed_form_longest", closed.longest_strategy}};
    if (shared)
      row.update({{"ranks_that_share", shared->ranks},
                  {"seconds_work", shared->work},
                  {"seconds_share", shared->share},
                  {"seconds_longest_price", shared->longest_price},
                  {"chosen", to_string(shared->chosen)},
                  {"regret_share", shared->regret}});
    json["cases"].push_back(std::move(row));
  }
  const auto& largest = json["cases"].back();
  double regret_max = 0;
  for (const auto& row : json["cases"]) regret_max = std::max(regret_max, row["regret"].get<double>());
  json["summary"] = {{"seconds_p16384", largest["seconds"]},
                     {"seconds_work_p16384", largest["seconds_work"]},
                     {"seconds_share_p16384", largest["seconds_share"]},
                     {"seconds_longest_price_p16384", largest["seconds_longest_price"]},
                     {"regret_max", regret_max},
                     {"regret_share_p16384", largest["regret_share"]},
                     {"seconds_all_in_full_p16384", largest["seconds_all_in_full"]},
                     {"bytes_peak", largest["bytes_peak"]},
                     {"closed_form_seconds_p16384", largest["closed_form_seconds"]},
                     {"closed_form_seconds_suggestions_p16384", largest["closed_form_seconds_suggestions"]},
                     {"closed_form_seconds_standard_p16384", largest["closed_form_seconds_standard"]},
                     {"closed_form_seconds_longest_p16384", largest["closed_form_seconds_longest"]}};
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  commpass::Command command{
      "bench-selection",
      "How long it takes to rank all strategies: for a random pattern, as an exchange does to choose one (selection) "
      "and as predict does (all in full), and for an all-to-all in closed form."};
  std::string profile = "profiles/lassen.json";
  command.add({{"--profile", &profile, "machine profile"}});
  OutputOptions options;
  return run_benchmark(command, argc, argv, "selection", options, [&] { return selection(options, profile); });
}
