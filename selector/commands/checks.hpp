// Checks of what arguments say: numbers, names of files, and messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/pattern/pattern.hpp"
#include "selector/commands/switches.hpp"

namespace commpass {

Check positive();
Check between(std::int64_t least, std::int64_t most);

/// Refuses texts that are not shown as one line, and blank ones.
Check no_control_characters();

/// Refuses a name of a file with another ending than these, such as ".json". A name without an ending is taken, and
/// ".gz" behind it.
Check ends_in(const std::vector<std::string>& endings);
/// -o, for a file with one of these endings.
Switch output_switch(std::string* output, const std::string& help, const std::vector<std::string>& endings,
                     bool is_required = false);

/// Standard output is no place for a file where a command prints something else there.
/// @throws InputError if `output` is "-"
void refuse_standard_output(const std::string& output);

/// No output is an input or another output, by whatever name. Empty names are none.
/// @throws InputError
void check_apart(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);

/// @throws InputError if a message is too large, or messages that are to be of one size are not
void require_plain_messages(const Pattern& pattern, bool constant_size);

}  // namespace commpass
