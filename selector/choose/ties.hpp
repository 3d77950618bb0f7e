// The one decision: limits first, then predicted times, then the simplest of ties, whose times differ by less than the
// uncertainty of the profile.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/machine.hpp"
#include "model/machine/profile.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// The part by which predicted times have to differ to be no tie: 0 for profiles without a verdict.
inline double uncertainty_of(const Machine& machine) { return machine.verdict ? machine.verdict->uncertainty : 0; }

/// By how much more prices may be off on a layout of more nodes than were measured, as part of the time: 15 % for each
/// doubling. 0 where it has no more, or the profile does not tell how many were measured.
double extrapolation(const Machine& machine, const Layout& layout);

/// The uncertainty for trials, which settle what prices leave open: that of the profile and the extrapolation; the
/// largest for profiles without a verdict.
inline double uncertainty_for_trials(const Machine& machine, const Layout& layout) {
  return machine.verdict ? machine.verdict->uncertainty + extrapolation(machine, layout) : most_uncertainty;
}

/// An uncertainty up to this one is rounding: prices that differ by less are equal, and there are no ties.
inline constexpr double uncertainty_min = 1e-6;

/// Evidence of a candidate before it has run, in the order in which it decides.
struct Evidence {
  int excess = 0;         ///< see excess(); a candidate that exceeds a limit never ties
  Seconds seconds = 0;    ///< predicted, of which nine digits count
  bool is_bound = false;  ///< the least that it can take: it never ties
  double error = 0;       ///< of the seconds, the part by which they may be off (Cost::sampling_error)
};

/// Infinite for a candidate that never ties.
inline Seconds tied_seconds(const Evidence& evidence) {
  return evidence.excess > 0 || evidence.is_bound ? std::numeric_limits<Seconds>::infinity() : evidence.seconds;
}

/// Seconds up to which a candidate ties with the fastest: their errors and the profile's uncertainty are independent.
inline Seconds tie_limit(const Evidence& fastest, const Evidence& other, double uncertainty) {
  return tied_seconds(fastest) * (1 + std::hypot(uncertainty, fastest.error, other.error));
}

/// Sorts by evidence; equal candidates stay in their order. Then moves the simplest that ties with the first one to the
/// front, of equally simple ones the first.
/// @param evidence_of    of a candidate
/// @param complexity_of  of a candidate, in any order of values
template <class Each, class EvidenceOf, class ComplexityOf>
void decide(std::vector<Each>& candidates, double uncertainty, EvidenceOf evidence_of, ComplexityOf complexity_of) {
  const auto key = [&](const Each& each) {
    const Evidence evidence = evidence_of(each);
    return std::pair(evidence.excess, comparable(evidence.seconds));
  };
  // Most rankings are in order already, and a key takes a logarithm.
  if (!std::ranges::is_sorted(candidates, {}, key)) std::ranges::stable_sort(candidates, {}, key);
  if (candidates.empty() || !(uncertainty >= uncertainty_min)) return;
  const Evidence fastest = evidence_of(candidates.front());
  auto simplest = candidates.begin();
  for (auto each = candidates.begin(); each != candidates.end(); ++each) {
    const Evidence own = evidence_of(*each);
    if (tied_seconds(own) <= tie_limit(fastest, own, uncertainty) && complexity_of(*each) < complexity_of(*simplest))
      simplest = each;
  }
  std::rotate(candidates.begin(), simplest, simplest + 1);
}

/// That among strategies: simpler are fewer stages, then MPI's own, then standard, then those without a window. Where
/// the profile has no uncertainty, of equal ones.
/// @return the ranking
std::vector<Candidate> prefer_simplest_of_ties(std::vector<Candidate> ranking, const Machine& machine,
                                               const Calls& calls = {});

/// What a profile, and samples of nodes, leave open about a ranking.
struct Ties {
  double uncertainty = 0;              ///< of the profile
  double sampling_error = 0;           ///< of the fastest
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
