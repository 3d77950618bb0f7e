// Validates JSON with a JSON schema (draft 7).
#pragma once

#include <string>

namespace commpass::test {

/// @param schema_path  of a file, which is read once
/// @return true if the schema accepts the document. @throws std::exception if either is no JSON
bool schema_accepts(const std::string& schema_path, const std::string& json_text);

}  // namespace commpass::test
