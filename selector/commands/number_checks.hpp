// Checks of the values of switches: numbers, and names.
#pragma once

#include <cstdint>

#include "selector/commands/switches.hpp"

namespace commpass {

Check positive();
Check between(std::int64_t least, std::int64_t most);

/// Of what is shown in one line.
Check no_control_characters();

}  // namespace commpass
