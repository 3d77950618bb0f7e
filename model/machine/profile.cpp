#include "model/machine/profile.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/nearest_names.hpp"
#include "model/base/readable_json.hpp"
#include "model/base/text.hpp"
#include "model/machine/parameters.hpp"
#include "model/machine/provenance_words.hpp"

namespace commpass {

namespace {

using Place = MachineParameter::Place;

/// What a schema version knows. Version 3 has levels; version 2 added the verdict, and schema_minor.
constexpr std::int64_t first_version = 1, levels_version = 3, verdict_version = 2;
/// The minor version of a version up to which this Commpass knows all keys.
constexpr std::int64_t known_minor(std::int64_t version) {
  constexpr std::int64_t last_of_version_2 = 4;
  return version == verdict_version ? last_of_version_2 : profile_schema_minor;
}

/// One JSON object of a profile: every key must be asked for, or it is unknown.
class ObjectReader {
 public:
  /// @param unknown_keys  takes unknown keys; null: they are an error
  ObjectReader(const Json& json, std::string origin, std::string path, std::vector<std::string>* unknown_keys = nullptr)
      : json_(json), origin_(std::move(origin)), path_(std::move(path)), unknown_keys_(unknown_keys) {
    if (!json.is_object()) throw error(path_.empty() ? "the profile" : path_, "is no object", "write {...}");
  }

  /// The value of `key`, or null if it is absent.
  const Json* find(const std::string& key) {
    asked_.insert(key);
    return json_.find(key);
  }

  const Json& require(const std::string& key) {
    const Json* value = find(key);
    if (!value) throw error(name(key), "is missing", "add it or calibrate again");
    return *value;
  }

  /// The number under `key`, which may have another name than the parameter; absent if the key is.
  ParameterValue parameter(const MachineParameter& row, const std::string& key) {
    const Json* json = row.is_required() ? &require(key) : find(key);
    if (!json) return {};
    ParameterValue value;
    if (row.is_integer()) {
      if (const auto integer = json->integer()) value = *integer;
    } else if (json->is_number()) {
      value = json->get<double>();
    }
    if (const auto remedy = range_remedy(row, value); !remedy.empty())
      throw error(name(key), "is " + json->dump(), remedy);
    return value;
  }
  /// All parameters of a place that the version knows.
  void parameters(Place place, void* owner, std::int64_t version) {
    for (const auto& row : parameters_of(place))
      if (row.since <= version) row.access.set(owner, parameter(row, row.key));
  }

  double amount(const std::string& key, double most) {
    const Json& value = require(key);
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0)
      throw error(name(key), "is " + value.dump(), "use a number, 0 or more");
    if (value.get<double>() > most) throw error(name(key), "is " + value.dump(), fmt::format("use {} at most", most));
    return value.get<double>();
  }
  std::int64_t natural(const std::string& key) {
    const Json& value = require(key);
    const auto integer = value.integer();
    if (!integer || *integer < 0) throw error(name(key), "is " + value.dump(), "use an integer, 0 or more");
    return *integer;
  }
  std::string string(const std::string& key) {
    const Json& value = require(key);
    if (!value.is_string() || value.get<std::string>().empty())
      throw error(name(key), "is " + value.dump(), "use a non-empty string");
    return value.get<std::string>();
  }

  /// A name: it is shown in one line and typed, so it has visible characters only.
  std::string name_under(const std::string& key) {
    auto text = string(key);
    if (has_control_characters(text) || text.find_first_not_of(' ') == std::string::npos)
      throw error(name(key), "is " + Json(text).dump(), "use a name of visible characters");
    return text;
  }

  ObjectReader object(const std::string& key) { return {require(key), origin_, name(key), unknown_keys_}; }
  ObjectReader element(const std::string& key, std::size_t index) {
    return {json_.at(key)[index], origin_, fmt::format("{}[{}]", name(key), index), unknown_keys_};
  }
  /// From now on unknown keys go there.
  void pass_over_unknown(std::vector<std::string>& unknown_keys) { unknown_keys_ = &unknown_keys; }
  std::size_t array_size(const std::string& key) {
    const Json& value = require(key);
    if (!value.is_array()) throw error(name(key), "is no list", "write [...]");
    return value.size();
  }

  /// Call when every known key has been asked for.
  void finish() const {
    for (const auto& [key, value] : json_.items()) {
      if (asked_.contains(key)) continue;
      if (!unknown_keys_) throw error(name(key), "is unknown", remedy_for_unknown(key));
      unknown_keys_->push_back(name(key));
    }
  }

  std::string name(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  InputError error(const std::string& key, const std::string& what, const std::string& remedy) const {
    return {origin_, "key " + key + " " + what, remedy};
  }

 private:
  std::string remedy_for_unknown(const std::string& key) const {
    if (const auto places = patterns_of_key(key); !places.empty())
      return "remove it or move it to its place: " + either_of(places);
    return did_you_mean(key, {asked_.begin(), asked_.end()}) + "remove it or correct its spelling";
  }

  const Json& json_;
  std::string origin_, path_;
  std::vector<std::string>* unknown_keys_;
  std::set<std::string> asked_;
};

Protocol read_protocol(ObjectReader in, bool is_last, std::int64_t version) {
  Protocol protocol;
  protocol.name = in.name_under("name");
  if (is_last && in.find("max_bytes")) throw in.error(in.name("max_bytes"), "limits the last protocol", "remove it");
  if (!is_last) in.require("max_bytes");
  in.parameters(Place::protocol, &protocol, version);
  in.finish();
  return protocol;
}

Channel read_channel(ObjectReader in, std::int64_t version) {
  Channel channel;
  const auto count = in.array_size("protocols");
  if (count == 0) throw in.error(in.name("protocols"), "is empty", "give at least one protocol");
  for (std::size_t i = 0; i < count; ++i) {
    auto protocol = read_protocol(in.element("protocols", i), i + 1 == count, version);
    if (std::ranges::find(channel.protocols, protocol.name, &Protocol::name) != channel.protocols.end())
      throw in.error(fmt::format("{}[{}].name", in.name("protocols"), i),
                     "is " + Json(protocol.name).dump() + ", as that of another protocol", "name each protocol once");
    channel.protocols.push_back(std::move(protocol));
    if (i > 0 && i + 1 < count && channel.protocols[i].max_bytes <= channel.protocols[i - 1].max_bytes)
      throw in.error(fmt::format("{}[{}].max_bytes", in.name("protocols"), i), "does not grow",
                     "list protocols from small to large messages");
  }
  in.parameters(Place::channel, &channel, version);
  in.finish();
  return channel;
}

std::vector<DeviceCopy> read_copies(ObjectReader& in, const std::string& key, std::int64_t version) {
  std::vector<DeviceCopy> copies;
  if (!in.find(key)) return copies;
  for (std::size_t i = 0; i < in.array_size(key); ++i) {
    auto element = in.element(key, i);
    DeviceCopy copy;
    element.parameters(Place::copy, &copy, version);
    element.finish();
    if (std::ranges::find(copies, copy.processes, &DeviceCopy::processes) != copies.end())
      throw in.error(element.name("processes"), fmt::format("is {}, as that of another entry", copy.processes),
                     "keep one of the two");
    copies.push_back(copy);
  }
  return copies;
}

/// The most nodes of the measurements and of the exchanges that corrected them; 0 if they are not told.
int nodes_measured(const Json& provenance) {
  int most = provenance.value("nodes", Json()).integer<int>().value_or(0);
  if (const auto* const exchanges = provenance.find("exchanges"); exchanges && exchanges->is_object())
    if (const auto* const nodes = exchanges->find("nodes"); nodes && nodes->is_array())
      for (const auto& count : *nodes) most = std::max(most, count.integer<int>().value_or(0));
  return most;
}

Verdict read_verdict(ObjectReader& in) {
  Verdict verdict;
  const auto trust = in.string("trust");
  const auto* found = std::ranges::find(trust_names, trust);
  if (found == std::end(trust_names))
    throw in.error(in.name("trust"), "is " + trust, fmt::format("use one of: {}", join(trust_names, ", ")));
  verdict.trust = static_cast<Trust>(found - std::begin(trust_names));
  verdict.uncertainty = in.amount("uncertainty", most_uncertainty);
  verdict.why = in.string("why");
  if (in.find("remedy")) verdict.remedy = in.string("remedy");
  return verdict;
}

/// Optional sections are read by a function if they are there.
template <class Read>
void read_section(ObjectReader& in, const std::string& key, Read read) {
  if (!in.find(key)) return;
  auto section = in.object(key);
  read(section);
  section.finish();
}

std::string read_level_name(ObjectReader& in, const std::vector<MachineLevel>& before) {
  auto name = in.string("name");
  if (!is_level_name(name))
    throw in.error(in.name("name"), "is " + Json(name).dump(),
                   "use a small letter, then small letters, digits, '-' and '_'");
  if (find_level(before, name))
    throw in.error(in.name("name"), "is " + Json(name).dump() + ", as that of another level", "name each level once");
  return name;
}

/// Refuses a parameter of a level that has no meaning there.
void require_place(ObjectReader& in, const MachineParameter& row, const Machine& machine, Level i) {
  if (!in.find(row.key) || is_of_level(row, i, machine.node_level(), machine.outermost())) return;
  throw in.error(in.name(row.key), "has no meaning there",
                 row.levels == MachineParameter::Levels::outside_nodes
                     ? "move it to a level outside 'node', or remove it"
                     : "remove it, as nothing leaves the outermost level");
}

void read_levels(ObjectReader& in, Machine& machine, std::int64_t version) {
  machine.levels.clear();
  const auto count = in.array_size("levels");
  if (count < 2 || count > most_levels)
    throw in.error("levels", fmt::format("is a list of {}", count), fmt::format("give 2 to {} levels", most_levels));
  std::vector<ObjectReader> readers;
  for (std::size_t i = 0; i < count; ++i) {
    auto& level = readers.emplace_back(in.element("levels", i));
    machine.levels.push_back({.name = read_level_name(level, machine.levels)});
  }
  if (!find_level(machine.levels, node_level_name))
    throw in.error("levels", fmt::format("has no level '{}'", node_level_name),
                   "name the level whose ranks share memory so");
  if (machine.node_level() == machine.outermost())
    throw in.error("levels", fmt::format("ends with '{}'", node_level_name),
                   "add the level of all nodes, such as {\"name\": \"network\"}");
  if (const auto misplaced = find_misplaced(machine.levels))
    throw in.error(fmt::format("levels[{}].name", misplaced->level),
                   fmt::format("is {}, which {}", Json(machine.name_of(misplaced->level)).dump(), misplaced->why),
                   "list levels innermost first");
  for (Level i = 0; i < count; ++i) {
    auto& level = readers[i];
    level.parameters(Place::level, &machine.levels[i], version);
    for (const auto& row : parameters_of(Place::level)) require_place(level, row, machine, i);
    if (level.find("host")) machine.host.by_level[i] = read_channel(level.object("host"), version);
    if (level.find("shared")) {
      if (i > machine.node_level())
        throw level.error("shared", "has no meaning there", "move it to 'node' or a level within, or remove it");
      machine.shared.by_level[i] = read_channel(level.object("shared"), version);
    }
    if (level.find("device")) machine.device.by_level[i] = read_channel(level.object("device"), version);
    level.finish();
  }
  if (machine.host.empty()) throw in.error("levels", "has no 'host'", "give the messages of one level at least");
}

// Versions 1 and 2: three localities, and a section for each rate that the ranks of a node or all nodes share.

MemoryChannels read_localities(ObjectReader in, std::int64_t version) {
  MemoryChannels channels;
  const auto levels = standard_level::levels();
  for (const auto level : {standard_level::socket, standard_level::node, standard_level::network})
    if (const auto& name = levels[level].name; in.find(name))
      channels.by_level[level] = read_channel(in.object(name), version);
  in.finish();
  return channels;
}

struct OldRate {
  const char* section;
  Level level;
  const char* key;  ///< of the level
};
constexpr OldRate old_rates[] = {{"injection", standard_level::node, "up_rate_bytes_per_s"},
                                 {"ejection", standard_level::node, "down_rate_bytes_per_s"},
                                 {"core", standard_level::network, "node_share_bytes_per_s"},
                                 {"group", standard_level::group, "up_rate_bytes_per_s"},
                                 {"group", standard_level::group, "down_rate_bytes_per_s"},
                                 {"bus", standard_level::node, "inside_rate_bytes_per_s"}};

void read_without_levels(ObjectReader& in, Machine& machine, std::int64_t version) {
  machine.host = read_localities(in.object("host"), version);
  if (machine.host.empty()) throw in.error("host", "has no locality", "give socket, node or network");
  if (in.find("device")) machine.device = read_localities(in.object("device"), version);
  for (const auto& [section, level, key] : old_rates)
    read_section(in, section, [&, level = level, key = key](ObjectReader& s) {
      const auto& row = parameter_named(Place::level, key);
      row.access.set(&machine.levels[level], s.parameter(row, "rate_bytes_per_s"));
    });
}

}  // namespace

Profile parse_profile(const std::string& text, const std::string& origin) {
  const auto json = Json::parse(text, origin, "correct it or calibrate again");
  ObjectReader in(json, origin, "");
  const auto version = in.natural("schema_version");
  if (version < first_version || version > profile_schema_version)
    throw in.error(
        "schema_version", fmt::format("is {}", version),
        fmt::format("this Commpass reads versions {} to {}: calibrate again", first_version, profile_schema_version));
  Profile profile;
  if (version > first_version && in.find("schema_minor") && in.natural("schema_minor") > known_minor(version))
    in.pass_over_unknown(profile.unknown_keys);
  Machine& machine = profile.machine;
  machine.name = in.name_under("name");
  auto provenance = in.require("provenance");
  if (!provenance.is_object()) throw in.error("provenance", "is no object", "write {...}");
  rename_provenance(provenance);
  profile.provenance_json = provenance.dump();
  if (const auto* library = provenance.find("mpi_library"); library && library->is_string())
    profile.machine.mpi_library = library->get<std::string>();
  machine.nodes_measured = nodes_measured(provenance);

  if (version >= levels_version) read_levels(in, machine, version);
  else read_without_levels(in, machine, version);
  read_section(in, "copy", [&](auto& s) {
    machine.device_to_host = read_copies(s, "device_to_host", version);
    machine.host_to_device = read_copies(s, "host_to_device", version);
  });
  if (version >= verdict_version) {
    read_section(in, "devices", [&](auto& s) { s.parameters(Place::devices, &machine, version); });
    read_section(in, "verdict", [&](auto& s) { machine.verdict = read_verdict(s); });
  }
  read_section(in, "local", [&](auto& s) { s.parameters(Place::local, &machine, version); });
  read_section(in, "operations", [&](auto& s) { s.parameters(Place::operations, &machine.operations, version); });
  if (version >= levels_version)
    read_section(in, "limits", [&](auto& s) { s.parameters(Place::limits, &machine.limits, version); });
  in.finish();
  return profile;
}

Profile read_profile(const std::string& path) {
  const ReadLimit limit{most_profile_bytes, "name a profile, or remove unneeded parts of its provenance"};
  return within_memory(path, [&] { return parse_profile(read_file(path, limit), path); });
}

namespace {

/// Adds parameters that are not absent.
void put_parameters(Json& json, Place place, const void* owner) {
  for (const auto& row : parameters_of(place)) {
    const auto value = row.access.get(owner);
    if (const auto* integer = std::get_if<std::int64_t>(&value)) json[row.key] = *integer;
    else if (const auto* number = std::get_if<double>(&value)) json[row.key] = *number;
  }
}

/// Adds a section unless it is empty: parameters that were not measured are absent.
void put_section(Json& json, const char* key, Json section) {
  if (!section.empty()) json[key] = std::move(section);
}
void put_section(Json& json, const char* key, Place place, const void* owner) {
  Json section;
  put_parameters(section, place, owner);
  put_section(json, key, std::move(section));
}

Json write_channel(const MemoryChannels& channels, Level level) {
  Json json;
  if (!channels.has(level)) return json;
  const auto& channel = *channels.by_level[level];
  json["protocols"] = Json::array();
  for (const auto& protocol : channel.protocols) {
    Json entry{{"name", protocol.name}};
    put_parameters(entry, Place::protocol, &protocol);
    json["protocols"].push_back(std::move(entry));
  }
  put_parameters(json, Place::channel, &channel);
  return json;
}

Json write_copies(const std::vector<DeviceCopy>& copies) {
  Json json;
  for (const auto& copy : copies) {
    Json entry;
    put_parameters(entry, Place::copy, &copy);
    json.push_back(std::move(entry));
  }
  return json;
}

Json write_verdict(const Verdict& verdict) {
  Json json{{"trust", name_of(verdict.trust)}, {"uncertainty", verdict.uncertainty}, {"why", verdict.why}};
  if (!verdict.remedy.empty()) json["remedy"] = verdict.remedy;
  return json;
}

}  // namespace

std::string to_json(const Profile& profile) {
  const Machine& machine = profile.machine;
  Json json;
  json["schema_version"] = profile_schema_version;
  if (profile_schema_minor > 0) json["schema_minor"] = profile_schema_minor;
  json["name"] = machine.name;
  json["provenance"] = Json::parse(profile.provenance_json);
  json["levels"] = Json::array();
  for (Level i = 0; i < machine.levels.size(); ++i) {
    Json level{{"name", machine.levels[i].name}};
    put_section(level, "host", write_channel(machine.host, i));
    put_section(level, "shared", write_channel(machine.shared, i));
    put_section(level, "device", write_channel(machine.device, i));
    put_parameters(level, Place::level, &machine.levels[i]);
    json["levels"].push_back(std::move(level));
  }
  Json copy;
  put_section(copy, "device_to_host", write_copies(machine.device_to_host));
  put_section(copy, "host_to_device", write_copies(machine.host_to_device));
  put_section(json, "copy", copy);
  put_section(json, "devices", Place::devices, &machine);
  put_section(json, "local", Place::local, &machine);
  put_section(json, "operations", Place::operations, &machine.operations);
  put_section(json, "limits", Place::limits, &machine.limits);
  if (machine.verdict) json["verdict"] = write_verdict(*machine.verdict);
  return readable(json);
}

void write_profile(const Profile& profile, const std::string& path) { write_file(path, to_json(profile)); }

}  // namespace commpass
