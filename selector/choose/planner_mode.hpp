// How much is done to choose the strategy of an exchange that is planned.
#pragma once

#include <cstddef>
#include <string>

#include "model/base/types.hpp"

namespace commpass {

/// By prices alone; by timing the few that are predicted to be the best; or by timing all that are considered. After
/// the modes of FFTW's planner.
enum class PlannerMode { estimate, measure, patient };

/// @throws InputError unless the text is estimate, measure or patient
PlannerMode parse_planner_mode(const std::string& text);
const char* name_of(PlannerMode mode);

/// How long exchanges are timed for one plan, unless told.
Seconds default_planner_seconds(PlannerMode mode);
/// @throws InputError unless it is a number of seconds above 0
void check_planner_seconds(Seconds seconds);

/// How many strategies are timed, besides what programs do without Commpass.
std::size_t most_timed(PlannerMode mode);

}  // namespace commpass
