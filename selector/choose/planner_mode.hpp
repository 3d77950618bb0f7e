// How much is done to choose the strategy of an exchange that is planned.
#pragma once

#include <string>

namespace commpass {

/// By prices alone; by timing those that prices cannot tell apart, for a share of the time of recurring calls; by
/// timing the few that are predicted to be the best; or by timing all that are considered. After the modes of FFTW's
/// planner. In the order of their evidence.
enum class PlannerMode { estimate, adaptive, measure, patient };

/// @throws InputError unless the text is estimate, adaptive, measure or patient
PlannerMode parse_planner_mode(const std::string& text);
const char* name_of(PlannerMode mode);

}  // namespace commpass
