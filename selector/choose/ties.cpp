#include "selector/choose/ties.hpp"

#include <fmt/core.h>

#include <cmath>
#include <tuple>

#include "model/base/text.hpp"

namespace commpass {

namespace {

Evidence evidence_of(const Candidate& candidate, const Calls& calls) {
  return {excess(candidate), ranked_seconds(candidate, calls), candidate.is_part, candidate.cost.sampling_error};
}

}  // namespace

double extrapolation(const Machine& machine, const Layout& layout) {
  constexpr double error_of_doubling = 0.15;  // docs/validation.md: 6 to 27 %
  if (machine.nodes_measured == 0 || layout.nodes() <= machine.nodes_measured) return 0;
  return error_of_doubling * std::log2(static_cast<double>(layout.nodes()) / machine.nodes_measured);
}

std::vector<Candidate> prefer_simplest_of_ties(std::vector<Candidate> ranking, const Machine& machine,
                                               const Calls& calls) {
  const bool are_known = uncertainty_of(machine) <= uncertainty_min;  // prices: what ties is equal
  const auto complexity = [&](const Candidate& candidate) {
    const auto& strategy = candidate.strategy;
    const int origin = strategy.route == "mpi" ? 0 : strategy.route == "standard" ? (are_known ? 0 : 1) : 2;
    return std::tuple(candidate.cost.stages.size(), origin, strategy.window != Window{}, strategy.path.copies,
                      strategy.path.is_shared);
  };
  const auto evidence = [&](const Candidate& candidate) { return evidence_of(candidate, calls); };
  decide(ranking, std::max(uncertainty_of(machine), uncertainty_min), evidence, complexity);
  return ranking;
}

bool Ties::contains(const Strategy& strategy) const {
  return std::ranges::find(strategies, strategy) != strategies.end();
}

Ties find_ties(std::span<const Candidate> ranking, double uncertainty, const Calls& calls) {
  Ties ties{.uncertainty = uncertainty > uncertainty_min ? uncertainty : 0};
  const auto seconds = [&](const Candidate& candidate) {
    const auto tied = tied_seconds(evidence_of(candidate, calls));
    return std::isinf(tied) ? tied : comparable(tied);
  };
  const auto fastest = std::ranges::min_element(ranking, {}, seconds);
  if (fastest == ranking.end() || std::isinf(seconds(*fastest))) return ties;
  ties.fastest = fastest->strategy;
  ties.fastest_s = ranked_seconds(*fastest, calls);
  ties.sampling_error = fastest->cost.sampling_error;
  const auto is_sampled = [](const Candidate& candidate) { return candidate.cost.sampling_error > 0; };
  if (ties.uncertainty == 0 && std::ranges::none_of(ranking, is_sampled)) return ties;
  for (const auto& candidate : ranking) {
    const auto own = evidence_of(candidate, calls);
    // Two prices of all messages leave nothing open.
    const bool is_open = ties.uncertainty > 0 || ties.sampling_error > 0 || own.error > 0;
    if (!is_open && candidate.strategy != fastest->strategy) continue;
    if (tied_seconds(own) <= tie_limit(evidence_of(*fastest, calls), own, uncertainty))
      ties.strategies.push_back(candidate.strategy);
  }
  if (ties.strategies.size() == 1) ties.strategies.clear();
  return ties;
}

std::string describe_ties(const Ties& ties, const Strategy& chosen) {
  if (!ties.contains(chosen)) return {};
  const auto share = format_share(std::hypot(ties.uncertainty, ties.sampling_error));
  const auto* const teller = ties.uncertainty > 0 ? "this profile" : "a sample of nodes";
  if (*ties.fastest == chosen)
    return fmt::format("Fastest by prediction, tied with {} more: {} cannot tell them apart ({})",
                       ties.strategies.size() - 1, teller, share);
  return fmt::format("Fastest by prediction: {}, {}, but {} cannot tell {} of them apart ({}): the simplest is taken",
                     to_string(*ties.fastest), format_seconds(ties.fastest_s), teller, ties.strategies.size(), share);
}

}  // namespace commpass
