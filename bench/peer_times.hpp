// What fixed schedules of other libraries take on a simulated cluster.
#pragma once

#include <string>
#include <vector>

#include "bench/simulate.hpp"

namespace commpass::bench {

/// @param schedules  as texts for `commpass-reference`
/// @param name       of the files that they are written to, without what tells them apart
/// @param options    of the program
/// @return seconds of each
std::vector<double> time_schedules(const Simulator& simulator, const ClusterShape& cluster, int ranks,
                                   const std::vector<std::string>& schedules, const std::string& name,
                                   const std::string& options = {});

}  // namespace commpass::bench
