#include "model/machine/parameter_documents.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "model/base/json.hpp"
#include "model/base/readable_json.hpp"
#include "model/machine/parameters.hpp"
#include "model/machine/profile.hpp"

namespace commpass {

namespace {

using Place = MachineParameter::Place;

Json text(const char* description = nullptr) {
  Json json{{"type", "string"}, {"minLength", 1}};
  if (description) json["description"] = description;
  return json;
}

Json reference(const std::string& definition, const char* description) {
  return {{"description", description}, {"allOf", Json::array({{{"$ref", "#/definitions/" + definition}}})}};
}

Json schema_of(const MachineParameter& row) {
  const auto [least, most] = row.range;
  Json json{{"description", row.meaning}, {"type", row.is_integer() ? "integer" : "number"}};
  if (!row.is_integer()) {
    json["minimum"] = least;
    if (std::isfinite(most)) json["maximum"] = most;
  } else {
    json["minimum"] = static_cast<std::int64_t>(least);
    json["maximum"] = std::isfinite(most) ? static_cast<std::int64_t>(most) : std::numeric_limits<std::int64_t>::max();
  }
  return json;
}

/// An object with all parameters of a place.
/// @param required, properties  of the object besides these
Json object_of(Place place, Json required = Json::array(), Json properties = Json::object()) {
  for (const auto& row : parameters_of(place)) {
    if (row.is_required()) required.push_back(row.key);
    properties[row.key] = schema_of(row);
  }
  Json json{{"type", "object"}, {"additionalProperties", false}};
  if (!required.empty()) json["required"] = required;
  json["properties"] = properties;
  return json;
}

Json definitions() {
  Json protocols{{"description", "from small to large messages; the last one has no max_bytes"},
                 {"type", "array"},
                 {"minItems", 1},
                 {"items", {{"$ref", "#/definitions/protocol"}}},
                 {"contains", {{"not", {{"required", Json::array({"max_bytes"})}}}}}};
  Json name{{"description", "a level is called node: its ranks share memory"},
            {"type", "string"},
            {"pattern", "^[a-z][a-z0-9_-]*$"}};
  return {
      {"level", object_of(Place::level, Json::array({"name"}),
                          {{"name", name},
                           {"host", reference("channel", "messages whose buffers are in host memory")},
                           {"shared", reference("channel", "messages through memory that the ranks of a node share")},
                           {"device", reference("channel", "messages whose buffers are in device memory")}})},
      {"channel", object_of(Place::channel, Json::array({"protocols"}), {{"protocols", protocols}})},
      {"protocol", object_of(Place::protocol, Json::array({"name"}), {{"name", text()}})},
      {"copies", {{"type", "array"}, {"items", object_of(Place::copy)}}}};
}

Json verdict() {
  Json trusts = Json::array();
  for (const char* name : trust_names) trusts.push_back(name);
  return {{"description", "how far to trust the profile, as its calibration found; absent: it made none"},
          {"type", "object"},
          {"additionalProperties", false},
          {"required", Json::array({"trust", "uncertainty", "why"})},
          {"properties",
           {{"trust", {{"enum", trusts}}},
            {"uncertainty",
             {{"description", "predicted times that differ by less than this part are ties"},
              {"type", "number"},
              {"minimum", 0},
              {"maximum", most_uncertainty}}},
            {"why", text()},
            {"remedy", text("absent: none is needed")}}}};
}

Json levels() {
  const Json is_node{{"required", Json::array({"name"})}, {"properties", {{"name", {{"const", node_level_name}}}}}};
  return {{"description",
           "what the ranks of one instance share, innermost first; two ranks are of the innermost level of which they "
           "share an instance"},
          {"type", "array"},
          {"minItems", 2},
          {"maxItems", most_levels},
          {"items", {{"$ref", "#/definitions/level"}}},
          {"allOf", Json::array({{{"contains", is_node}}, {{"contains", {{"required", Json::array({"host"})}}}}})}};
}

}  // namespace

std::string profile_schema() {
  Json copies{{"type", "object"},
              {"additionalProperties", false},
              {"properties",
               {{"device_to_host", {{"$ref", "#/definitions/copies"}}},
                {"host_to_device", {{"$ref", "#/definitions/copies"}}}}}};
  return readable(
      {{"$schema", "http://json-schema.org/draft-07/schema#"},
       {"title", "Commpass machine profile"},
       {"description",
        "The measured parameters of one machine: seconds, bytes, bytes per second. Parameters that were not measured "
        "are absent. "
        "'commpass profile schema' prints this schema, 'commpass profile convert' writes older profiles in it."},
       {"$comment",
        "Commpass itself reads profiles more strictly: no two levels, protocols of a channel or numbers of copying "
        "processes are the same, levels are listed innermost first, names have no control characters, only the last "
        "protocol of a channel has no max_bytes, those of the others grow, parameters of a level have a meaning there, "
        "integers are written without a fraction, and no key is written twice."},
       {"type", "object"},
       {"required", Json::array({"schema_version", "name", "provenance", "levels"})},
       {"additionalProperties", false},
       {"properties",
        {{"schema_version", {{"const", profile_schema_version}}},
         {"schema_minor",
          {{"description",
            "a newer one than this schema's has further keys, which Commpass passes over with a warning"},
           {"type", "integer"},
           {"minimum", 0},
           {"maximum", profile_schema_minor}}},
         {"name", text()},
         {"provenance", {{"description", "where the numbers come from, for people"}, {"type", "object"}}},
         {"levels", levels()},
         {"copy", copies},
         {"devices", object_of(Place::devices)},
         {"local", object_of(Place::local)},
         {"operations", object_of(Place::operations)},
         {"limits", object_of(Place::limits)},
         {"verdict", verdict()}}},
       {"definitions", definitions()}});
}

}  // namespace commpass
