// bench scale: how long do the choices take that are made without a pattern, for a hundred thousand ranks?
#include <fmt/core.h>

#include "bench/options.hpp"
#include "bench/stopwatch.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/profile.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/alltoall_choice.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass::bench {
namespace {

struct NamedLayout {
  std::string name;
  std::vector<int> node_of, socket_of;

  Layout build() const { return Layout(node_of, socket_of); }
};

/// Regular, with sockets, with nodes of two sizes, and with ranks dealt to nodes in turn.
std::vector<NamedLayout> layouts(int nodes) {
  constexpr int ppn = 40, sockets = 2;
  std::vector<NamedLayout> result{{fmt::format("{}x{}", nodes, ppn), {}, {}},
                                  {fmt::format("{}x{}x{}", nodes, sockets, ppn / sockets), {}, {}},
                                  {"uneven", {}, {}},
                                  {"in turn", {}, {}}};
  for (int rank = 0; rank < nodes * ppn; ++rank) {
    const int node = rank / ppn, local = rank % ppn;
    result[0].node_of.push_back(node);
    result[1].node_of.push_back(node);
    result[1].socket_of.push_back(local / (ppn / sockets));
    result[2].node_of.push_back(node % 2 == 0 && local == ppn - 1 ? node + 1 : node);
    result[3].node_of.push_back(rank % nodes);
  }
  return result;
}

/// The longest of the prices of all strategies that have a closed form, one by one, routes included.
struct Longest {
  Seconds seconds = 0;
  std::string strategy;
};
Longest longest_price(const RandomPattern& pattern, const Layout& layout, const Machine& machine) {
  const auto price = random_pricer(pattern, layout, machine, CostModel::burst, {});
  Longest longest;
  for (const auto& strategy : offered_strategies(layout, machine, CostModel::burst)) {
    if (!has_closed_form(strategy)) continue;
    const auto seconds = seconds_of([&] { price(std::span(&strategy, 1)); });
    if (seconds > longest.seconds) longest = {seconds, to_string(strategy)};
  }
  return longest;
}

struct Timing {
  std::string what;
  Seconds seconds = 0;
  std::string remark{};
};

std::vector<Timing> timings(const NamedLayout& named, const Machine& machine) {
  std::vector<Timing> result;
  const auto time = [&](const std::string& what, auto action) { result.push_back({what, seconds_of(action)}); };
  std::optional<Layout> layout;
  time("layout", [&] { layout = named.build(); });
  std::optional<SparseChoice> sparse;
  time("sparse choice", [&] { sparse.emplace(*layout, machine, true); });
  const auto statistics = expected_traffic(16, 64, *layout);
  std::optional<SparseCandidate> best;
  time("sparse decision", [&] { best = sparse->best(statistics); });
  result.back().remark = to_string(best->strategy);
  constexpr double block_bytes = 64;
  for (const auto& [what, density] : {std::pair("all-to-all", 1.0), std::pair("half", 0.5),
                                      std::pair("one in 32", 1.0 / 32), std::pair("one in 4096", 1.0 / 4096)}) {
    const auto pattern = priced_in_call({density, density, block_bytes}, layout->ranks());
    const auto longest = longest_price(pattern, *layout, machine);
    result.push_back({fmt::format("{}, a strategy", what), longest.seconds, longest.strategy});
    const auto rank = [&](RankingDepth depth) {
      return rank_one_shot(pattern, *layout, machine, CostModel::burst, {}, BlockSizes::told, depth);
    };
    std::vector<Candidate> ranking;
    time(fmt::format("{}, one-shot", what), [&] { ranking = rank(RankingDepth::cheapest); });
    result.back().remark = fmt::format("{} of {}, {} in full", to_string(ranking.front().strategy), ranking.size(),
                                       std::ranges::count(ranking, false, &Candidate::is_part));
    if (const auto first = rank(RankingDepth::all).front(); first.strategy != ranking.front().strategy)
      result.back().remark +=
          fmt::format(", not {}: {:.3f}", to_string(first.strategy), ranking.front().cost.seconds / first.cost.seconds);
  }
  return result;
}

Json scale(const OutputOptions& options, const std::string& profile) {
  const auto machine = read_profile(profile).machine;
  Json json;
  Seconds longest = 0;
  for (const auto& named : layouts(options.quick ? 256 : 2560)) {
    if (!options.json) fmt::print("{}, {} ranks\n", named.name, named.node_of.size());
    for (const auto& [what, seconds, remark] : timings(named, machine)) {
      if (!options.json) fmt::print("  {:<24} {:>12}  {}\n", what, format_seconds(seconds), remark);
      json["cases"].push_back(
          {{"layout", named.name}, {"ranks", named.node_of.size()}, {"what", what}, {"seconds", seconds}});
      longest = std::max(longest, seconds);
    }
  }
  json["summary"] = {{"seconds_longest", longest}};
  return json;
}

}  // namespace
}  // namespace commpass::bench

int main(int argc, char** argv) {
  using namespace commpass::bench;
  commpass::Command command{
      "bench-scale",
      "How long the choices take that are made without a pattern, on 102 400 ranks (10 240 with --quick)."};
  std::string profile = "profiles/lassen.json";
  command.add({{"--profile", &profile, "machine profile"}});
  OutputOptions options;
  return run_benchmark(command, argc, argv, "scale", options, [&] { return scale(options, profile); });
}
