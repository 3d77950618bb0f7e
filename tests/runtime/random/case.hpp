// A case: some communicators, some exchanges on them, and an order in which they run.
#pragma once

#include <cstdint>

#include "runtime/random/switches.hpp"

namespace commpass::random_test {

/// Runs a case. Collective over the world. Does not come back if the case fails.
void run_case(const Switches& switches, std::int64_t number);

}  // namespace commpass::random_test
