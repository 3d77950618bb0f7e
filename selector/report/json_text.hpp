// What all JSON has in common that commands print or write.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace commpass {

inline constexpr int json_indent = 2;     ///< of what people may read; -1: all on one line
inline constexpr int picture_indent = 1;  ///< of pictures' numbers, which are many

/// With the end of its line. What is no UTF-8, as names of files may be, is replaced.
inline std::string json_text(const nlohmann::ordered_json& json, int indent = json_indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// What a report begins with: the version of its schema, and what it is of.
inline nlohmann::ordered_json json_head(const std::vector<std::pair<std::string, std::string>>& context) {
  nlohmann::ordered_json json{{"schema_version", 1}, {"context", nlohmann::ordered_json::object()}};
  for (const auto& [key, value] : context) json["context"][key] = value;
  return json;
}

}  // namespace commpass
