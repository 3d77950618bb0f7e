// bench selection: how long does it take to choose, for very many ranks?
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/options.hpp"
#include "bench/stopwatch.hpp"
#include "model/machine/profile.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/text.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/select.hpp"

namespace commpass::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr Bytes block_bytes = 64;
constexpr int degree = 50, ppn = 32;

/// The most memory that the process has had so far.
Bytes peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  constexpr Bytes kibibyte = 1024;  // the unit of ru_maxrss on Linux
  return usage.ru_maxrss * kibibyte;
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
    fmt::print("{:>7} {:>9} {:>11} {:>8} {:>12} {:>12} {:>12} {:>12} {:>11} {:>12}   (longest: strategy)\n", "ranks",
               "messages", "strategies", "in full", "selection", "all in full", "peak memory", "all-to-all",
               "strategies", "suggestions");
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
    const auto seconds_all = rank_to(RankingDepth::all), seconds = rank_to(RankingDepth::cheapest);
    const auto in_full = std::ranges::count(ranking, false, &Candidate::is_part);
    const auto peak = peak_bytes();
    constexpr int more = 4;  // a closed form takes so little time that more repetitions are cheap
    const auto closed = time_closed_forms(layout, machine, more * repetitions);
    if (!options.json)
      fmt::print("{:>7} {:>9} {:>11} {:>8} {:>12} {:>12} {:>12} {:>12} {:>11} {:>12}   ({}: {})\n", ranks,
                 pattern.edges.size(), ranking.size(), in_full, format_seconds(seconds), format_seconds(seconds_all),
                 format_bytes(static_cast<double>(peak)), format_seconds(closed.ranking), closed.ranked,
                 format_seconds(closed.suggestions), format_seconds(closed.longest), closed.longest_strategy);
    json["cases"].push_back({{"ranks", ranks},
                             {"messages", pattern.edges.size()},
                             {"strategies", ranking.size()},
                             {"strategies_in_full", in_full},
                             {"seconds", seconds},
                             {"seconds_all_in_full", seconds_all},
                             {"bytes_peak", peak},
                             {"closed_form_strategies", closed.ranked},
                             {"closed_form_seconds", closed.ranking},
                             {"closed_form_seconds_suggestions", closed.suggestions},
                             {"closed_form_seconds_standard", closed.standard},
                             {"closed_form_seconds_longest", closed.longest},
                             {"closed_form_longest", closed.longest_strategy}});
  }
  const auto& largest = json["cases"].back();
  json["summary"] = {{"seconds_p16384", largest["seconds"]},
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
  CLI::App app{
      "How long it takes to rank all strategies: for a random pattern, as an exchange does to choose one (selection) "
      "and as predict does (all in full), and for an all-to-all in closed form."};
  std::string profile = "profiles/lassen.json";
  app.add_option("--profile", profile, "machine profile");
  OutputOptions options;
  return run_benchmark(app, argc, argv, "selection", options, [&] { return selection(options, profile); });
}
