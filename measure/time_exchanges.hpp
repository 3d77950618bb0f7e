// Times exchanges in turn.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "measure/measurement.hpp"
#include "model/base/types.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"

namespace commpass {

/// Does an exchange run before each time it is timed? A cache that keeps the last few exchanges only needs that.
enum class WarmUp { none, each_time };

struct TimedExchange {
  std::function<void()> run;    ///< collective
  std::span<std::byte> sent{};  ///< send buffer of this rank, rewritten before each run (runtime/mpi/timed_start.hpp)
  /// Before and after each timing, not timed; collective, too.
  std::function<void()> prepare = [] {}, check = [] {};
};

/// A planned exchange: start, then wait. @param exchange  outlives the result
template <class Planned>
TimedExchange timed(Planned& exchange, std::span<std::byte> sent) {
  return {.run =
              [&exchange] {
                exchange.start();
                exchange.wait();
              },
          .sent = sent};
}

/// Statistics of the runs of one exchange.
struct RunTimes {
  Seconds median = 0, mean = 0;
  Seconds percentile_99 = 0;  ///< of fewer than 100 runs the longest
};

/// Times all exchanges in rounds. Each round has another order, so that a disturbance affects all alike. A run is timed
/// from a common start to the last finish. Collective.
/// Without --repetitions, 201 rounds: more until 0.2 s have passed, fewer after 5 s, but at least 7.
std::vector<RunTimes> time_exchanges(const std::vector<TimedExchange>& exchanges, WarmUp warm_up,
                                     const Measurement& measurement);

/// The plain loop of MPI libraries: non-blocking receives from all and sends to all, in order.
void run_plain_loop(std::span<const NeighborMessage> receives, std::span<const NeighborMessage> sends);

/// Calls after which the choice of a call no longer changes.
/// @param calls_to_know  until the choice knows the sends of all ranks
int calls_to_settle(int calls_to_know, PlannerMode planner);

}  // namespace commpass
