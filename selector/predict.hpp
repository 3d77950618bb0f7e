// The times of strategies for a pattern on a machine, as programs ask for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "model/cost/cost_model.hpp"
#include "model/machine/machine_data.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// One stage of a predicted exchange.
struct PredictedStage {
  std::string label;              ///< for people: "node digit", "dimension 2 of 3"
  std::int64_t messages_max = 0;  ///< messages that a rank sends, the most over ranks
  Bytes bytes_max = 0;            ///< bytes that a rank sends, the most over ranks
  Seconds seconds = 0;            ///< by which the stage moves the finish of the slowest rank
};

/// A strategy, and its predicted time for one exchange.
struct Prediction {
  std::string strategy;                ///< in text form
  Seconds seconds = 0;                 ///< of one exchange
  std::vector<PredictedStage> stages;  ///< whose seconds sum up to those of the exchange
  std::string explanation;  ///< stage by stage what dominates, and how it compares with the cheapest other one
};

/// The candidates, and the terms of their order.
struct PredictOptions {
  std::vector<std::string> strategies{};  ///< these alone, in text form; empty: all that are considered
  CostModel model = CostModel::burst;     ///< by which they are priced
  std::optional<double> calls{};          ///< exchanges of one plan; absent: the time of planning does not count
};

/// Prices strategies for a pattern.
/// @param layout  of as many ranks as the pattern has, as text, in the forms of COMMPASS_LAYOUT ("4x8", "0,0,1")
/// @return at least one, in the order in which programs choose: the first one would run
/// @throws NotApplicable if a given strategy does not apply, or cannot be priced on this machine; InputError
std::vector<Prediction> predict(const Pattern& pattern, const std::string& layout, const Machine& machine,
                                const PredictOptions& options = {});

/// The machine of a profile, with stand-ins for unknown parameters.
/// @param profile  its name or file; empty: that of COMMPASS_PROFILE, else the built-in one
/// @throws InputError that says where it looked
Machine find_machine(const std::string& profile = {});

}  // namespace commpass
