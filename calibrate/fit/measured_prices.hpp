// What Commpass predicts of exchanges that were measured on real clusters.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/measured_times.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// Cases on as many ranks in the same places, with data in the same memory.
struct PriceQuestion {
  std::vector<MeasuredCase> cases;
  std::set<std::string> strategies;  ///< texts, to be priced for each case
  bool is_on_devices = false;        ///< else the data are in host memory
  bool has_choice = true;            ///< also what `predict` chooses, and the library's call
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

/// The questions whose answers are the prices of measured times: one for each layout and kind of pattern, and memory.
/// Times without a counterpart are left out.
std::vector<PriceQuestion> questions_of(std::span<const MeasuredTime> times, bool has_choice);

/// The predicted seconds of each time; nothing where it has no price.
std::vector<std::optional<Seconds>> predicted_seconds(std::span<const MeasuredTime> times, const Machine& machine,
                                                      int sockets);

}  // namespace commpass
