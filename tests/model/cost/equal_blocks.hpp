// An all-to-all of equal blocks as the one-shot choices see it.
#pragma once

#include "model/cost/cost.hpp"

namespace commpass::test {

inline RandomPattern equal_blocks(Bytes bytes) { return {1, 1, static_cast<double>(bytes)}; }

}  // namespace commpass::test
