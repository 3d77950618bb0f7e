#include "selector/choose/planner_mode.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "model/base/error.hpp"

namespace commpass {

PlannerMode parse_planner_mode(const std::string& text) {
  for (const auto mode : {PlannerMode::estimate, PlannerMode::measure, PlannerMode::patient})
    if (text == name_of(mode)) return mode;
  throw InputError("planner " + text, "it is no such mode", "use estimate, measure or patient");
}

const char* name_of(PlannerMode mode) {
  switch (mode) {
    case PlannerMode::measure: return "measure";
    case PlannerMode::patient: return "patient";
    default: return "estimate";
  }
}

Seconds default_planner_seconds(PlannerMode mode) {
  constexpr Seconds few_s = 0.1, all_s = 1;
  return mode == PlannerMode::patient ? all_s : few_s;
}

void check_planner_seconds(Seconds seconds) {
  if (!(seconds > 0) || !std::isfinite(seconds))
    throw InputError("planner_seconds", fmt::format("{} is no time to measure in", seconds),
                     "use a number of seconds above 0, or leave it out");
}

std::size_t most_timed(PlannerMode mode) {
  constexpr std::size_t few = 4;
  return mode == PlannerMode::estimate  ? 0
         : mode == PlannerMode::patient ? std::numeric_limits<std::size_t>::max()
                                        : few;
}

}  // namespace commpass
