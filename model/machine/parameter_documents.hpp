// The table of parameters as the schema of profiles.
#pragma once

#include <string>

namespace commpass {

/// profiles/schema.json: a JSON schema of draft 7.
std::string profile_schema();

}  // namespace commpass
