// Corrects the parameters of a machine that microbenchmarks cannot identify, by exchanges measured on few of its nodes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/measured_times.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

struct ExchangeFit {
  Machine machine;                       ///< as given if held-out exchanges are predicted no better
  std::vector<std::string> corrected{};  ///< parameters and their corrections
  int cases = 0, times = 0;              ///< used for fitting
  std::vector<std::string> left_out{};   ///< algorithms without a counterpart, each once
  std::vector<int> nodes{};              ///< of these cases, each number once
  double before = 1, after = 1;          ///< median factor between predictions and held-out times
  bool is_held_out = false;              ///< else there is one case, and its own times are compared

  bool is_better() const { return after < before; }
};

/// Fits corrections (corrections.hpp) of parameters to the fastest runs of exchanges: least squares of logarithms with
/// Huber weights, within bounds, regularized towards the given machine. So a few times correct little, and parameters
/// stay plausible.
///
/// Cross-validation in two halves of the cases gives `after`; the result is fitted to all cases. Stalled times
/// (stalled_times) do not count. Of more than 80 times, 80 count, evenly spread.
/// @param sockets  of a node
/// @param origin   of the times, for messages
/// @throws Error that names the origin, if no time has a price, or the times have another unit
ExchangeFit fit_exchanges(const Machine& machine, std::span<const MeasuredTime> times, int sockets,
                          const std::string& origin);

}  // namespace commpass
