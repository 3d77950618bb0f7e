// Checks of the values of switches: numbers, and names.
#pragma once

#include <cstdint>

#include "selector/commands/switches.hpp"

namespace commpass {

Check positive();
Check between(std::int64_t least, std::int64_t most);

/// Refuses texts that are not shown as one line, and blank ones.
Check no_control_characters();

}  // namespace commpass
