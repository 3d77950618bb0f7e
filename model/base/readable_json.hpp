// JSON that people read and edit.
#pragma once

#include <string>

#include "model/base/json_fwd.hpp"

namespace commpass {

/// The text of a value over several lines, with a newline at the end. A list or an object below the outermost one is on
/// one line where that has at most 120 columns.
std::string readable(const Json& json);

}  // namespace commpass
