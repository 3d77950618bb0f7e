// Which patterns can be sparse exchanges, as `predict` and `measure --sparse` take them.
#pragma once

#include "model/pattern/pattern.hpp"

namespace commpass {

/// @throws InputError if a message is too large, or messages that are to be of one size are not
void require_plain_messages(const Pattern& pattern, bool constant_size);

}  // namespace commpass
