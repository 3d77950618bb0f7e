#include "selector/choose/planner_mode.hpp"

#include "model/base/error.hpp"

namespace commpass {

PlannerMode parse_planner_mode(const std::string& text) {
  for (const auto mode : {PlannerMode::estimate, PlannerMode::adaptive, PlannerMode::measure, PlannerMode::patient})
    if (text == name_of(mode)) return mode;
  throw InputError("planner " + text, "it is no such mode", "use estimate, adaptive, measure or patient");
}

const char* name_of(PlannerMode mode) {
  switch (mode) {
    case PlannerMode::adaptive: return "adaptive";
    case PlannerMode::measure: return "measure";
    case PlannerMode::patient: return "patient";
    default: return "estimate";
  }
}

}  // namespace commpass
