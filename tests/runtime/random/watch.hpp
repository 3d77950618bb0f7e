// What this rank is doing, for the line that a failure or a hang prints.
#pragma once

#include <string>

namespace commpass::random_test {

/// What every line about a case begins and ends with.
/// @param repeat  the command that repeats it
void watch_case(const std::string& beginning, const std::string& repeat, unsigned seconds);

/// Names the current step; the line of a hang has it.
void watch_step(const std::string& step);

/// Ends the program on all ranks after a line about the case.
[[noreturn]] void fail(const std::string& what);

}  // namespace commpass::random_test
