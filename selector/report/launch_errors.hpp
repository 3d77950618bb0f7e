// What the predictions of one launch are off by in other launches.
#pragma once

#include <optional>
#include <span>

#include "model/base/json_fwd.hpp"

namespace commpass {

/// Calibrations of the same layout draw the same held-out exchanges, so what one launch predicts of them can be
/// compared with what the others measured: fresh exchanges in fresh launches.
/// @param provenances  of profiles, each of one launch; those without held-out exchanges count for nothing
/// @return the median of the factors by which they are off, to either side alike, less 1; nothing where no two launches
/// ran the same
std::optional<double> miss_between_launches(std::span<const Json> provenances);

}  // namespace commpass
