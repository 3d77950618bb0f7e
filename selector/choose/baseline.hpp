// What programs do without Commpass, which every choice is compared with.
#pragma once

#include <span>
#include <string>

#include "selector/choose/select.hpp"

namespace commpass {

/// Sending directly, with all messages in flight (standard), or the MPI library's collective (mpi). Data on devices is
/// sent directly by device-aware MPI, or through host memory.
struct Baseline {
  Strategy strategy;
  const char* what;
};

/// Those for data in some place, the user's way first.
std::span<const Baseline> baselines(DataPlace place = DataPlace::host);

/// The one that a strategy is, for data in any place; null: none.
const Baseline* baseline_of(const Strategy& strategy);

/// What it is, with the algorithm that the MPI library takes where it is priced by that: "MPI_Alltoall by modified
/// Bruck".
std::string describe(const Baseline& baseline, const Candidate& candidate);

/// What the user's program does without Commpass: of the ways to send directly in some place the first one that is
/// among candidates. Null: none.
const Candidate* users_way(std::span<const Candidate> candidates, DataPlace place);

/// "8.8 times faster than", "2.1 times slower than" or "as fast as".
/// @param own, others  seconds, above 0
std::string compare_speed(Seconds own, Seconds others);

/// A line for each baseline in a ranking but the candidate itself. Of a baseline that was not priced in full the price
/// is the least it can be, and the line says "at least".
std::string compare_with_baselines(std::span<const Candidate> ranking, const Candidate& candidate, const Calls& calls);

}  // namespace commpass
