// Checks of switches that take a number.
#pragma once

#include <cstdint>

#include "selector/commands/switches.hpp"

namespace commpass {

Check positive();
Check between(std::int64_t least, std::int64_t most);

}  // namespace commpass
