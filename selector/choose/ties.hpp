// Ties: candidates whose predicted times differ by less than the uncertainty of the profile. The simplest is chosen.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/machine/machine.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// The part by which predicted times have to differ to be no tie: 0 for profiles without a verdict.
inline double uncertainty_of(const Machine& machine) { return machine.verdict ? machine.verdict->uncertainty : 0; }

/// An uncertainty up to this one is rounding: prices that differ by less are equal, and there are no ties.
inline constexpr double uncertainty_min = 1e-6;

/// Moves the simplest candidate that ties with the cheapest to the front. Of equally simple ones the cheaper stays in
/// front.
/// @param ranking      sorted by seconds, the cheapest first
/// @param seconds_of   of a candidate; infinite if it is not to be preferred
/// @param complexity_of  of a candidate, in any order of values
template <class Each, class SecondsOf, class ComplexityOf>
void prefer_simplest_of_ties(std::vector<Each>& ranking, double uncertainty, SecondsOf seconds_of,
                             ComplexityOf complexity_of) {
  if (ranking.empty() || !(uncertainty >= uncertainty_min)) return;
  const auto limit = seconds_of(ranking.front()) * (1 + uncertainty);
  auto simplest = ranking.begin();
  for (auto each = ranking.begin(); each != ranking.end(); ++each)
    if (seconds_of(*each) <= limit && complexity_of(*each) < complexity_of(*simplest)) simplest = each;
  std::rotate(ranking.begin(), simplest, simplest + 1);
}

/// The same for strategies: fewer stages first, then MPI's own, then standard, then those without a window. Where the
/// profile has no uncertainty, of equal ones.
/// @return the ranking
std::vector<Candidate> prefer_simplest_of_ties(std::vector<Candidate> ranking, const Machine& machine,
                                               const Calls& calls = {});

/// What a profile leaves open about a ranking.
struct Ties {
  double uncertainty = 0;
  std::optional<Strategy> fastest{};   ///< by prediction; absent: nothing has a price
  Seconds fastest_s = 0;               ///< of planning and all exchanges, or, without calls, of one exchange
  std::vector<Strategy> strategies{};  ///< that tie with the fastest, itself among them; empty: none ties

  bool contains(const Strategy& strategy) const;
};

/// @param ranking  in any order
Ties find_ties(std::span<const Candidate> ranking, double uncertainty, const Calls& calls = {});

/// How the choice follows from predictions, as a sentence without its full stop: "Fastest by prediction: standard, 4.26
/// us, but this profile cannot tell 5 of them apart (38 %): the simplest is taken". Empty: no other one ties with the
/// chosen one.
std::string describe_ties(const Ties& ties, const Strategy& chosen);

}  // namespace commpass
