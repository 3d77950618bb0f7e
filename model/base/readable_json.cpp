#include "model/base/readable_json.hpp"

#include <vector>

#include "model/base/format.hpp"
#include "model/base/json.hpp"

namespace commpass {

namespace {

/// The elements of a list, or the members of an object, in brackets.
template <class Write>
std::string in_brackets(const Json& json, const std::string& open, const std::string& separator,
                        const std::string& close, Write write) {
  std::vector<std::string> parts;
  if (json.is_array())
    for (const auto& each : json) parts.push_back(write(each));
  else
    for (const auto& [key, value] : json.items()) parts.push_back(Json(key).dump() + ": " + write(value));
  const bool is_list = json.is_array();
  return (is_list ? "[" : "{") + open + join(parts, separator) + close + (is_list ? "]" : "}");
}

std::string on_one_line(const Json& json) {
  if (!json.is_array() && !json.is_object()) return json.dump();
  return in_brackets(json, "", ", ", "", on_one_line);
}

std::string on_lines(const Json& json, std::size_t indent) {
  constexpr std::size_t columns = 120, step = 2;
  if (json.empty() || (!json.is_array() && !json.is_object())) return json.dump();
  if (indent > 0)
    if (auto line = on_one_line(json); indent + line.size() <= columns) return line;
  const std::string margin(indent, ' '), inner = "\n" + margin + std::string(step, ' ');
  return in_brackets(json, inner, "," + inner, "\n" + margin,
                     [&](const Json& value) { return on_lines(value, indent + step); });
}

}  // namespace

std::string readable(const Json& json) { return on_lines(json, 0) + "\n"; }

}  // namespace commpass
