// What Commpass predicts of exchanges that were measured on real clusters.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/measured_times.hpp"
#include "model/machine/machine.hpp"

namespace commpass::bench {

/// Cases on as many ranks in the same places, with data in the same memory.
struct PriceQuestion {
  std::vector<MeasuredCase> cases;
  std::set<std::string> strategies;  ///< texts, to be priced for each case
  bool is_on_devices = false;        ///< else the data are in host memory
};

struct CasePrices {
  std::map<std::string, Seconds> seconds;  ///< by strategy
  std::optional<std::string> chosen;       ///< by `predict`, of all strategies that it offers
  std::optional<Seconds> library_s;        ///< of the MPI library's own call
};

struct PriceAnswer {
  std::map<MeasuredCase, CasePrices> cases;
  std::map<std::string, int> not_priced;  ///< prices that there are not, by reason
};

/// Prices by the model burst. How each kind of pattern is made from its description: docs/validation.md.
/// @param sockets  of a node
PriceAnswer price_measured(const PriceQuestion& question, const Machine& machine, int sockets);

}  // namespace commpass::bench
