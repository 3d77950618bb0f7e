// Measured algorithms and the strategies of Commpass that do the same.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "calibrate/fit/measured_times.hpp"

namespace commpass {

/// The text of the strategy that sends the same messages; empty: there is none.
std::string counterpart(const MeasuredAlgorithm& algorithm, const MeasuredCase& of);

/// Does the text of a strategy say that its data are on devices?
inline bool is_on_path(const std::string& strategy) { return strategy.find('@') != std::string::npos; }

/// Messages to other nodes that a rank has in flight at once.
int messages_in_flight(const MeasuredAlgorithm& algorithm, const MeasuredCase& of);

/// Is it MPI_Alltoall of the library, which `mpi` stands for?
bool is_library_alltoall(const MeasuredAlgorithm& algorithm);
/// Is it a call of the MPI library, on host or device memory?
/// @param algorithm  its name, with a parameter or without
bool is_of_library(const std::string& algorithm);

/// A measured algorithm that stands for a strategy.
struct NearestMeasured {
  std::optional<MeasuredAlgorithm> algorithm;  ///< nothing: none of those that were measured does
  bool is_same = false;                        ///< the strategy is its counterpart
  std::string why_none;                        ///< of the strategy, without its numbers
};

/// The measured algorithm that is the same as a strategy, else one of the same family with the nearest parameter. A
/// window below the square root of the peers counts as pairwise. stfw needs two dimensions, and a group of measured
/// size within a factor of 2.
NearestMeasured nearest_measured(const std::string& strategy, const MeasuredCase& of,
                                 std::span<const MeasuredAlgorithm> measured);

}  // namespace commpass
