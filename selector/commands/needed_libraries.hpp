// The shared libraries that a program is linked with.
#pragma once

#include <istream>
#include <string>
#include <vector>

namespace commpass {

/// Names of the libraries that an ELF file of 64 bits wants (DT_NEEDED), in its order; empty: it wants none, or it is
/// no such file.
std::vector<std::string> needed_libraries(std::istream& file);

}  // namespace commpass
