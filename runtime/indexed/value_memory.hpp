// The memory that copies the pieces of messages where these are small values. Private to the runtime.
#pragma once

#include "runtime/execute/memory.hpp"

namespace commpass {

/// Host memory whose copies are made by a loop as that of copy_values().
Memory& value_memory();

}  // namespace commpass
