// Finds the measured algorithm that stands for a strategy.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "calibrate/fit/measured_times.hpp"

namespace commpass::bench {

struct NearestMeasured {
  std::optional<MeasuredAlgorithm> algorithm;  ///< nothing: no measured algorithm stands for the strategy
  bool is_same = false;                        ///< the strategy is its counterpart
  std::string why_none;                        ///< of the strategy, without its numbers
};

/// The measured algorithm whose counterpart a strategy is, else one of the same family with the nearest parameter. A
/// window below the square root of the peers counts as pairwise. stfw needs two dimensions, and a group of measured
/// size within a factor of 2.
NearestMeasured nearest_measured(const std::string& strategy, const MeasuredCase& of,
                                 std::span<const MeasuredAlgorithm> measured);

/// Messages to other nodes that a rank has in flight at once.
int messages_in_flight(const MeasuredAlgorithm& algorithm, const MeasuredCase& of);

/// Is it MPI_Alltoall of the library, which `mpi` stands for?
bool is_library_alltoall(const MeasuredAlgorithm& algorithm);

}  // namespace commpass::bench
