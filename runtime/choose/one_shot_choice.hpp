// Decisions for one-shot exchanges.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

struct OneShotChoice {
  std::string strategy;
  std::optional<Seconds> predicted_s{};  ///< of the exchange for which it was decided
  int survey_interval = 0;               ///< see there; 0: it is named, and nothing is to be learnt for the next choice
  bool is_measured = false;              ///< was it timed, and nothing found that is faster?
};

/// What rank 0 offers.
struct OneShotOffer {
  OneShotChoice cheapest;
  std::vector<OneShotChoice> trials{};  ///< the timed ones, if timing is asked for: the first one stays unless another
                                        ///< one is faster beyond doubt
};

}  // namespace commpass
