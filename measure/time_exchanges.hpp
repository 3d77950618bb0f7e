// How long exchanges take.
#pragma once

#include <functional>
#include <vector>

#include "model/types.hpp"

namespace commpass {

/// Times all candidates in turn, each round in another order, so that a disturbance hits all alike. A run is timed from
/// a common start to the last finish. Collective.
/// @param warm_up      run each once before
/// @param repetitions  of each; 0: for 5 seconds, at least 7
/// @param shown        print progress on stderr
/// @return medians
std::vector<Seconds> time_exchanges(const std::vector<std::function<void()>>& exchanges, bool warm_up, int repetitions,
                                    bool shown);

}  // namespace commpass
