// Calls over time: the exchanges of a recorded run by place, and the predicted savings.
#pragma once

#include "pictures/picture.hpp"
#include "selector/report/advice.hpp"

namespace commpass {

/// A strip for each of the first calls of the advice: their share of each part of the run, on the busiest rank; for
/// non-blocking calls their number. If there is a machine, the first one divides each strip into the remaining and the
/// saved time. JSON and CSV have all calls.
/// @throws InputError if the record has no calls
Picture draw_calls_over_time(const Advice& advice, const std::string& id = "calls");

}  // namespace commpass
