// Checks of the files that a command reads and writes.
#pragma once

#include <string>
#include <vector>

namespace commpass {

/// Standard output is no place for a file where a command prints something else there.
/// @throws InputError if `output` is "-"
void refuse_standard_output(const std::string& output);

/// No output is an input or another output, by whatever name. Empty names are none.
/// @throws InputError
void check_apart(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

}  // namespace commpass
