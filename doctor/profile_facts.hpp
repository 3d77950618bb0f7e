// Which profile would be used here, how old it is, and whether it belongs here.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "doctor/findings.hpp"

namespace commpass {

/// @param library  name and version of the MPI library
/// @param hosts    names of the hosts that run
ProfileFacts examine_profile(const std::string& library, const std::vector<std::string>& hosts);

/// Days from a date as profiles hold it ("2026-11-21T07:30:00Z") until now; nothing for any other text.
std::optional<double> age_of(const std::string& date, std::time_t now);

}  // namespace commpass
