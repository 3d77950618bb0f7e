// What all JSON has in common that commands print or write.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/base/json.hpp"

namespace commpass {

inline constexpr int json_indent = 2;     ///< of what people may read; -1: all on one line
inline constexpr int picture_indent = 1;  ///< of pictures' numbers, which are many

/// The text of a report or a picture, with the end of its line.
inline std::string json_text(const Json& json, int indent = json_indent) { return json.dump(indent) + "\n"; }

/// What a report begins with: the version of its schema, and what it is of.
inline Json json_head(const std::vector<std::pair<std::string, std::string>>& context) {
  Json json{{"schema_version", 1}, {"context", Json::object()}};
  for (const auto& [key, value] : context) json["context"][key] = value;
  return json;
}

}  // namespace commpass
