#include "model/machine/provenance_words.hpp"

#include <string>
#include <utility>

#include "model/base/json.hpp"

namespace commpass {

namespace {

std::string renamed_parameter(const std::string& name) {
  if (name == "injection") return "levels.node.up_rate_bytes_per_s";
  if (name == "ejection") return "levels.node.down_rate_bytes_per_s";
  constexpr std::string_view host = "host.";
  const auto level_end = name.find('.', host.size());
  if (!name.starts_with(host) || level_end == std::string::npos) return name;
  return "levels." + name.substr(host.size(), level_end - host.size()) + ".host" + name.substr(level_end);
}

}  // namespace

void rename_provenance(Json& provenance) {
  for (const char* key : {"fits", "sharing"}) {
    if (provenance.list(key).empty()) continue;
    for (auto& entry : provenance.at(key)) {
      if (!entry.is_object()) continue;
      const bool has_level = entry.contains("level");
      for (auto& [name, value] : entry.items()) {
        if (name == "locality" && !has_level) name = "level";
        if (name == "parameter" && value.is_string()) value = renamed_parameter(value.get<std::string>());
      }
    }
  }
  if (provenance.contains("device") && provenance.at("device").is_object()) rename_provenance(provenance.at("device"));
}

}  // namespace commpass
