// Exchanges that no parameter was fitted to.
#pragma once

#include "calibrate/exchange_trials.hpp"

namespace commpass {

/// Draws them, and adds them to be priced and timed: planned ones of several kinds, between few and between all nodes,
/// an all-to-all that is called once, and a sparse one. Collective.
void add_held_out(Calibration& calibration, ExchangeTrials& trials);

/// Of these, those that are called once.
void add_held_out_calls(Calibration& calibration, ExchangeTrials& trials);

}  // namespace commpass
