// Strategies that send the same messages as measured algorithms.
#pragma once

#include <string>

#include "calibrate/fit/measured_times.hpp"

namespace commpass {

/// The text of the strategy that sends the same messages; a strategy's text is its own counterpart. Empty: there is
/// none.
std::string counterpart(const MeasuredAlgorithm& algorithm, const MeasuredCase& of);

/// Does the text of a strategy place its data on devices?
inline bool is_on_path(const std::string& strategy) { return strategy.find('@') != std::string::npos; }

/// G of the parameter "groups=G", L of "leaders=L"; 0: the algorithm has neither.
int groups_of(const MeasuredAlgorithm& algorithm);

/// Is it a call of the MPI library, on host or device memory?
/// @param algorithm  its name, with a parameter or without
bool is_of_library(const std::string& algorithm);

}  // namespace commpass
