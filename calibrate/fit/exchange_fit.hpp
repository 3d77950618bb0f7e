// Corrects a machine by exchanges that were measured on few of its nodes: what microbenchmarks cannot identify.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/measured_times.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

struct ExchangeFit {
  Machine machine;                       ///< as given where held-out exchanges are predicted no better
  std::vector<std::string> corrected{};  ///< what, and by how much
  int cases = 0, times = 0;              ///< that were fitted to
  std::vector<std::string> left_out{};   ///< algorithms that no strategy does, each once
  std::vector<int> nodes{};              ///< of these cases, each number once
  double before = 1, after = 1;          ///< median factor by which predictions of held-out times are off
  bool is_held_out = false;              ///< else there is one case, whose own times these are

  bool is_better() const { return after < before; }
};

/// Finds factors of parameters by which predictions of exchanges come closest to their fastest runs: least squares of
/// logarithms, robust (Huber), within bounds, and regularised towards the machine as it is. So few times correct
/// little, and no number of them moves a parameter beyond what is plausible. What is corrected: corrections.hpp.
///
/// All cases are held out in turn, half of them at a time, and predicted by a fit to the other half. Then all are
/// fitted to. Times that stall (stalled_times) do not count. Of more than 80 times that many count, evenly spread.
/// @param sockets  of a node
/// @param origin   of the times, for messages
/// @throws Error that names the origin, if no time has a price, or times are in another unit
ExchangeFit fit_exchanges(const Machine& machine, std::span<const MeasuredTime> times, int sockets,
                          const std::string& origin);

}  // namespace commpass
