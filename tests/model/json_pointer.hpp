// Values in JSON by their pointers: /host/socket/protocols/0.
#pragma once

#include <string>

#include "model/base/json.hpp"
#include "model/base/text.hpp"

namespace commpass::test {

/// @throws JsonError if it is absent
inline const Json& at_pointer(const Json& json, const std::string& pointer) {
  const auto* place = &json;
  const auto steps = split(pointer, '/');
  for (std::size_t i = 1; i < steps.size(); ++i)
    place = place->is_array() ? &place->at(std::stoul(steps[i])) : &place->at(steps[i]);
  return *place;
}
inline Json& at_pointer(Json& json, const std::string& pointer) {
  return const_cast<Json&>(at_pointer(std::as_const(json), pointer));
}

inline std::string parent_of(const std::string& pointer) { return pointer.substr(0, pointer.rfind('/')); }
inline std::string last_of(const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); }

/// Replaces or adds the value at a pointer, and the objects around it.
inline void put(Json& json, const std::string& pointer, Json value) {
  auto* place = &json;
  const auto steps = split(pointer, '/');
  for (std::size_t i = 1; i < steps.size(); ++i)
    place = place->is_array() ? &place->at(std::stoul(steps[i])) : &(*place)[steps[i]];
  *place = std::move(value);
}

}  // namespace commpass::test
