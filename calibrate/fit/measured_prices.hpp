// Predictions of exchanges that were measured on real clusters.
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

/// Cases with the same layout and the same memory of data.
struct PriceQuestion {
  std::vector<MeasuredCase> cases;
  std::set<std::string> strategies;  ///< texts, to be priced for each case
  bool is_on_devices = false;        ///< else the data are in host memory
  bool has_choice = true;            ///< also price the choice of `predict`, and the library's call
};

struct CasePrices {
  std::map<std::string, Seconds> seconds;  ///< by strategy
  std::optional<std::string> chosen;       ///< by `predict`, of all strategies that it offers
  std::optional<Seconds> library_s;        ///< of the MPI library's own call
};

struct PriceAnswer {
  std::map<MeasuredCase, CasePrices> cases;
  std::map<std::string, int> not_priced;  ///< number of missing prices, by reason
};

/// Prices by the model burst. docs/validation.md tells how a description becomes a pattern.
/// @param sockets  of a node
PriceAnswer price_measured(const PriceQuestion& question, const Machine& machine, int sockets);

/// Groups measured times into questions, one for each layout, kind of pattern and memory. Times without a counterpart
/// are left out.
std::vector<PriceQuestion> questions_of(std::span<const MeasuredTime> times, bool has_choice);

/// The prediction of each time; nothing where it has no price.
std::vector<std::optional<Seconds>> predicted_seconds(std::span<const MeasuredTime> times, const Machine& machine,
                                                      int sockets);

}  // namespace commpass
