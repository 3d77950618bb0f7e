// Warnings of an application, which goes on.
#pragma once

#include <string>

#include "model/base/types.hpp"

namespace commpass {

/// Prints "commpass: ", the text and a line's end on stderr, on rank 0, and there once for each text.
void warn_once(const std::string& text, Rank rank = 0);

/// From now on this process prints no warnings: another one of the program does, and would be repeated.
void silence_warnings() noexcept;

}  // namespace commpass
