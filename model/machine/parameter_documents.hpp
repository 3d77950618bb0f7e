// The table of parameters as documents: the schema of profiles, and the table of docs/profiles.md.
#pragma once

#include <string>

namespace commpass {

/// profiles/schema.json: a JSON schema of draft 7.
std::string profile_schema();

/// Rows of Markdown, a parameter each: its name as --set takes it, its unit, what it means, what its absence means,
/// its stand-in, the strategies that are then not offered, and the file of its experiment.
std::string parameter_table();

}  // namespace commpass
