// How much is done to choose the strategy of an exchange that is planned.
#pragma once

#include <string>

namespace commpass {

/// By prices alone; by timing the few that are predicted to be the best; or by timing all that are considered. After
/// the modes of FFTW's planner.
enum class PlannerMode { estimate, measure, patient };

/// @throws InputError unless the text is estimate, measure or patient
PlannerMode parse_planner_mode(const std::string& text);
const char* name_of(PlannerMode mode);

}  // namespace commpass
