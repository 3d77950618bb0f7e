// The model by which strategies are priced: what programs name in options.
#pragma once

#include <string>

namespace commpass {

/// How much of a machine the prediction knows.
enum class CostModel {
  postal,    ///< Σ over stages of the maximum over ranks of Σ (α + β·s) of the messages sent
  max_rate,  ///< as postal, but a rank's bytes take at least as long as its node needs to inject: Gropp, Olson, Samfass
             ///< 2016
  burst      ///< bursts, sharing, receivers, copies, and ranks that wait for each other: the default
};

/// "postal", "max-rate", "burst".
const char* name_of(CostModel model);
/// @throws InputError
CostModel parse_cost_model(const std::string& text);

}  // namespace commpass
