// How long exchanges take.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "model/base/types.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {

/// Untimed runs. What keeps things for its next run, but not while many others are run, is warm before each time only.
enum class WarmUp { none, once, each_time };

struct TimedExchange {
  std::function<void()> run;    ///< collective
  std::span<std::byte> sent{};  ///< what this rank sends, which is written anew before (runtime/mpi/write_anew.hpp)
};

/// What many runs of one exchange took.
struct RunTimes {
  Seconds median = 0, mean = 0;
  Seconds percentile_99 = 0;  ///< of few runs the longest
};

/// Times all candidates in turn, each round in another order, so that a disturbance hits all alike. A run is timed from
/// a common start to the last finish. Collective.
/// @param warm_up      whether and when they are run beside what is timed
/// @param repetitions  of each; 0: 201 or as many as 0.2 s have room for, but for no longer than 5 s, and at least 7
/// @param shown        print progress on stderr
std::vector<RunTimes> time_runs(const std::vector<TimedExchange>& exchanges, WarmUp warm_up, int repetitions,
                                bool shown);
/// Their medians.
std::vector<Seconds> time_exchanges(const std::vector<TimedExchange>& exchanges, WarmUp warm_up, int repetitions,
                                    bool shown);

/// How often something is called before its choice stays as it is.
/// @param calls_to_know  until it knows what all ranks send
int calls_to_settle(int calls_to_know, PlannerMode planner);

}  // namespace commpass
