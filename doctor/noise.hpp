// How much time other work takes from a process, by running the same piece of work again and again.
#pragma once

#include "model/base/types.hpp"

namespace commpass {

struct Noise {
  double lost = 0;      ///< share of the time beyond what the quick tenth of the pieces takes
  Seconds longest = 0;  ///< by which one piece took longer than the quick tenth
};

/// Fixed-work-quantum test: runs pieces of about 20 us for so long.
Noise measure_noise(Seconds duration);

/// The least difference between two readings of the clock that times are taken with.
Seconds clock_resolution();

}  // namespace commpass
