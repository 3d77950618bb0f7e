// What the machine at hand is, to tell whether a profile was measured on it.
#pragma once

#include "model/machine/profile_lookup.hpp"

namespace commpass {

/// Of the calling rank's node. Nothing in it depends on how ranks are bound. Local.
Fingerprint fingerprint_here();

}  // namespace commpass
