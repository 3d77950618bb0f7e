// Checks of switches that take a number, for CLI11. Private to the commands.
#pragma once

#include <string>

namespace commpass {

/// @return what is wrong with a number, and what to use; empty: nothing
std::string positive_number(const std::string& text);
std::string number_from_zero(const std::string& text);

}  // namespace commpass
