// The files of programs, and the shared libraries that these are linked with.
#pragma once

#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace commpass {

/// The first file of this name in PATH that can be run.
std::optional<std::string> find_program(const std::string& name);

/// Names of the libraries that an ELF file of 64 bits wants (DT_NEEDED), in its order; empty: it wants none, or it is
/// no such file.
std::vector<std::string> needed_libraries(std::istream& file);

}  // namespace commpass
