#include "selector/choose/told_apart.hpp"

#include <limits>
#include <tuple>

namespace commpass {

std::vector<Candidate> prefer_simple(std::vector<Candidate> ranking, const Machine& machine, const Calls& calls) {
  const auto complexity = [](const Candidate& candidate) {
    const auto& strategy = candidate.strategy;
    const int origin = strategy.route == "mpi" ? 0 : strategy.route == "standard" ? 1 : 2;
    return std::tuple(candidate.cost.stages.size(), origin, strategy.window != Window{}, strategy.path.copies);
  };
  const auto seconds = [&](const Candidate& candidate) {
    return candidate.is_part ? std::numeric_limits<Seconds>::infinity() : ranked_seconds(candidate, calls);
  };
  prefer_simple(ranking, uncertainty_of(machine), seconds, complexity);
  return ranking;
}

}  // namespace commpass
