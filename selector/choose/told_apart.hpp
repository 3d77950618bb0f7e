// Candidates whose predicted times differ by less than the profile knows: the simplest of them is chosen.
#pragma once

#include <algorithm>
#include <vector>

#include "model/machine/machine.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// The part by which predicted times have to differ to be told apart: 0 for profiles without a verdict.
inline double uncertainty_of(const Machine& machine) { return machine.verdict ? machine.verdict->uncertainty : 0; }

/// Moves the simplest candidate that is not told apart from the cheapest to the front. Of equally simple ones the
/// cheaper stays in front.
/// @param ranking      sorted by seconds, the cheapest first
/// @param seconds_of   of a candidate; infinite if it is not to be preferred
/// @param complexity_of  of a candidate, in any order of values
template <class Each, class SecondsOf, class ComplexityOf>
void prefer_simple(std::vector<Each>& ranking, double uncertainty, SecondsOf seconds_of, ComplexityOf complexity_of) {
  constexpr double rounding = 1e-6;
  if (ranking.empty() || !(uncertainty > rounding)) return;
  const auto limit = seconds_of(ranking.front()) * (1 + uncertainty);
  auto simplest = ranking.begin();
  for (auto each = ranking.begin(); each != ranking.end(); ++each)
    if (seconds_of(*each) <= limit && complexity_of(*each) < complexity_of(*simplest)) simplest = each;
  std::rotate(ranking.begin(), simplest, simplest + 1);
}

/// The same for strategies: fewer stages first, then MPI's own, then standard, then what has no window.
/// @return the ranking
std::vector<Candidate> prefer_simple(std::vector<Candidate> ranking, const Machine& machine, const Calls& calls = {});

}  // namespace commpass
