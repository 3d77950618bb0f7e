// Calls over time: when a recorded program exchanged, from which places, and what of that would be saved.
#pragma once

#include "pictures/picture.hpp"
#include "selector/report/advice.hpp"

namespace commpass {

/// A strip for each of the first calls of the advice: how much of each part of the run passed in them, on the rank with
/// the most. Of calls that do not block it is how many there were. Where there is a machine, the first one, each strip
/// is divided into what stays there and what would be saved. The numbers are of all calls.
/// @throws InputError if nothing was recorded
Picture draw_calls_over_time(const Advice& advice, const std::string& id = "calls");

}  // namespace commpass
