// What exchanges take beyond what their prices say.
#pragma once

#include <span>

#include "calibrate/fit/provenance.hpp"

namespace commpass {

/// The middle of what the exchanges take beyond their prices; 0 where that is less than a twentieth of them, or may be
/// noise in most of them. @param exchanges  at least one
Seconds beyond_prices(std::span<const HeldOut> exchanges);

}  // namespace commpass
