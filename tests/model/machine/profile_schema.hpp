// Validates JSON with a JSON schema (draft 7).
#pragma once

#include <string>

namespace commpass::test {

/// @return true if the schema accepts the document. @throws std::exception if either is no JSON
bool schema_accepts(const std::string& schema_text, const std::string& json_text);

}  // namespace commpass::test
