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
#include "model/base/text.hpp"

namespace commpass {

namespace {

constexpr int schema_version = 2, first_schema_version = 1;
constexpr int schema_minor = 4;  ///< of schema_version; grows by one where keys are added that older ones may pass over
/// Those that added devices and calls, groups, and loops over values; the last one added sends with new requests.
constexpr int devices_minor = 1, groups_minor = 2, value_run_minor = 3;

// What no message takes: eleven days, or that for each byte, and a byte in as long. Sums of such times stay finite.
constexpr double most_amount = 1e6;
constexpr double least_rate = 1e-6;

/// One JSON object of a profile: every key must be asked for, or it is unknown.
class ObjectReader {
 public:
  /// @param unknown_keys  takes what is unknown; null: that is an error
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

  double number(const std::string& key) { return to_number(key, require(key)); }
  std::optional<double> optional_number(const std::string& key) {
    const Json* value = find(key);
    return value ? std::optional(to_number(key, *value)) : std::nullopt;
  }
  std::optional<double> optional_signed_number(const std::string& key) {
    const Json* value = find(key);
    return value ? std::optional(to_number(key, *value, -most_amount, most_amount)) : std::nullopt;
  }
  /// A rate in bytes per second; infinite if absent, never 0.
  double rate(const std::string& key) {
    const Json* json = find(key);
    if (!json) return std::numeric_limits<double>::infinity();
    const double value = to_number(key, *json, 0, std::numeric_limits<double>::max());
    if (value < least_rate)
      throw error(name(key), "is " + json->dump(),
                  fmt::format("use {} bytes a second or more, or leave it out if it was not measured", least_rate));
    return value;
  }

  std::int64_t integer(const std::string& key, std::int64_t least) {
    const Json& value = require(key);
    const auto integer = value.integer();
    if (!integer || *integer < least)
      throw error(name(key), "is " + value.dump(), fmt::format("use an integer, {} or more", least));
    return *integer;
  }
  /// An integer that fits an int.
  int count(const std::string& key, int least) {
    const auto value = integer(key, least);
    if (value > std::numeric_limits<int>::max())
      throw error(name(key), fmt::format("is {}", value),
                  fmt::format("use at most {}", std::numeric_limits<int>::max()));
    return static_cast<int>(value);
  }
  std::string string(const std::string& key) {
    const Json& value = require(key);
    if (!value.is_string() || value.get<std::string>().empty())
      throw error(name(key), "is " + value.dump(), "use a non-empty string");
    return value.get<std::string>();
  }

  ObjectReader object(const std::string& key) { return {require(key), origin_, name(key), unknown_keys_}; }
  ObjectReader element(const std::string& key, std::size_t index) {
    return {json_.at(key)[index], origin_, fmt::format("{}[{}]", name(key), index), unknown_keys_};
  }
  /// From now on what is unknown goes there.
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
      if (!unknown_keys_) throw error(name(key), "is unknown", "remove it or correct its spelling");
      unknown_keys_->push_back(name(key));
    }
  }

  std::string name(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  InputError error(const std::string& key, const std::string& what, const std::string& remedy) const {
    return {origin_, "key " + key + " " + what, remedy};
  }

 private:
  double to_number(const std::string& key, const Json& value, double least = 0, double most = most_amount) const {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < least)
      throw error(name(key), "is " + value.dump(),
                  least < 0 ? fmt::format("use a number, {} or more", least) : "use a number, 0 or more");
    if (value.get<double>() > most)
      throw error(name(key), "is " + value.dump(), fmt::format("use a number, at most {}", most));
    return value.get<double>();
  }

  const Json& json_;
  std::string origin_, path_;
  std::vector<std::string>* unknown_keys_;
  std::set<std::string> asked_;
};

Protocol read_protocol(ObjectReader in, bool last) {
  Protocol protocol;
  protocol.name = in.string("name");
  if (last) {
    if (in.find("max_bytes")) throw in.error(in.name("max_bytes"), "limits the last protocol", "remove it");
  } else {
    protocol.max_bytes = in.integer("max_bytes", 0);
  }
  protocol.alpha_s = in.number("alpha_s");
  protocol.beta_s_per_byte = in.number("beta_s_per_byte");
  protocol.alpha_next_s = in.optional_number("alpha_next_s").value_or(protocol.alpha_s);
  protocol.beta_next_s_per_byte = in.optional_number("beta_next_s_per_byte");
  protocol.alpha_receive_s = in.optional_number("alpha_receive_s");
  protocol.beta_receive_s_per_byte = in.optional_number("beta_receive_s_per_byte");
  in.finish();
  return protocol;
}

Channel read_channel(ObjectReader in) {
  Channel channel;
  const auto count = in.array_size("protocols");
  if (count == 0) throw in.error(in.name("protocols"), "is empty", "give at least one protocol");
  for (std::size_t i = 0; i < count; ++i) {
    channel.protocols.push_back(read_protocol(in.element("protocols", i), i + 1 == count));
    if (i > 0 && i + 1 < count && channel.protocols[i].max_bytes <= channel.protocols[i - 1].max_bytes)
      throw in.error(fmt::format("{}[{}].max_bytes", in.name("protocols"), i), "does not grow",
                     "list protocols from small to large messages");
  }
  channel.gamma_s = in.optional_number("gamma_s");
  channel.aggregate_rate_bytes_per_s = in.rate("aggregate_rate_bytes_per_s");
  channel.link_rate_bytes_per_s = in.rate("link_rate_bytes_per_s");
  if (in.find("rendezvous_from_bytes")) channel.rendezvous_from_bytes = in.integer("rendezvous_from_bytes", 0);
  in.finish();
  return channel;
}

MemoryChannels read_channels(ObjectReader in) {
  MemoryChannels channels;
  for (const auto locality : {Locality::socket, Locality::node, Locality::network})
    if (in.find(name_of(locality)))
      channels.by_locality[static_cast<std::size_t>(locality)] = read_channel(in.object(name_of(locality)));
  in.finish();
  return channels;
}

std::vector<DeviceCopy> read_copies(ObjectReader& in, const std::string& key) {
  std::vector<DeviceCopy> copies;
  if (!in.find(key)) return copies;
  for (std::size_t i = 0; i < in.array_size(key); ++i) {
    auto element = in.element(key, i);
    constexpr std::int64_t most_processes = 1 << 20;
    const auto processes = element.integer("processes", 1);
    if (processes > most_processes)
      throw element.error(element.name("processes"), fmt::format("is {}", processes),
                          "use the processes that share a device");
    copies.push_back({static_cast<int>(processes), element.number("alpha_s"), element.number("beta_s_per_byte")});
    element.finish();
  }
  return copies;
}

Verdict read_verdict(ObjectReader& in) {
  Verdict verdict;
  const auto trust = in.string("trust");
  const auto* found = std::ranges::find(trust_names, trust);
  if (found == std::end(trust_names))
    throw in.error(in.name("trust"), "is " + trust, fmt::format("use one of: {}", join(trust_names, ", ")));
  verdict.trust = static_cast<Trust>(found - std::begin(trust_names));
  verdict.uncertainty = in.number("uncertainty");
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

/// The sections of what the ranks of a node, or all nodes, share: one table for reading and writing.
struct SharedRateKey {
  const char* key;
  double Machine::*member;
};
constexpr SharedRateKey shared_rate_keys[] = {{"injection", &Machine::injection_rate_bytes_per_s},
                                              {"ejection", &Machine::ejection_rate_bytes_per_s},
                                              {"core", &Machine::core_rate_bytes_per_s},
                                              {"group", &Machine::group_rate_bytes_per_s},
                                              {"bus", &Machine::bus_rate_bytes_per_s}};

/// The operations, with their keys: one table for reading and writing.
struct OperationKey {
  const char* key;
  std::optional<Seconds> OperationCosts::*member;
  bool is_difference = false;  ///< from something else that was measured, so it may be negative
};
constexpr OperationKey operation_keys[] = {
    {"barrier_s", &OperationCosts::barrier_s},
    {"allreduce_s", &OperationCosts::allreduce_s},
    {"probe_s", &OperationCosts::probe_s},
    {"put_s", &OperationCosts::put_s},
    {"fence_s", &OperationCosts::fence_s},
    {"window_s", &OperationCosts::window_s},
    {"neighbor_alltoall_s", &OperationCosts::neighbor_alltoall_s, true},
    {"neighbor_alltoall_message_s", &OperationCosts::neighbor_alltoall_message_s, true},
    {"alltoallv_s", &OperationCosts::alltoallv_s, true},
    {"alltoallv_message_s", &OperationCosts::alltoallv_message_s, true},
    {"batch_s", &OperationCosts::batch_s},
    {"batch_once_s", &OperationCosts::batch_once_s},
    {"discovery_s", &OperationCosts::discovery_s}};

}  // namespace

Profile parse_profile(const std::string& text, const std::string& origin) {
  const auto json = Json::parse(text, origin, "correct it or calibrate again");
  ObjectReader in(json, origin, "");
  const auto version = in.integer("schema_version", 0);
  if (version < first_schema_version || version > schema_version)
    throw in.error(
        "schema_version", fmt::format("is {}", version),
        fmt::format("this Commpass reads versions {} and {}: calibrate again", first_schema_version, schema_version));
  Profile profile;
  if (version == schema_version && in.find("schema_minor") && in.integer("schema_minor", 0) > schema_minor)
    in.pass_over_unknown(profile.unknown_keys);
  Machine& machine = profile.machine;
  machine.name = in.string("name");
  const Json& provenance = in.require("provenance");
  if (!provenance.is_object()) throw in.error("provenance", "is no object", "write {...}");
  profile.provenance_json = provenance.dump();

  machine.host = read_channels(in.object("host"));
  if (machine.host.empty()) throw in.error("host", "has no locality", "give socket, node or network");
  if (in.find("device")) machine.device = read_channels(in.object("device"));
  for (const auto& [key, member] : shared_rate_keys)
    read_section(in, key, [&, rate = member](auto& s) { machine.*rate = s.rate("rate_bytes_per_s"); });
  read_section(in, "copy", [&](auto& s) {
    machine.device_to_host = read_copies(s, "device_to_host");
    machine.host_to_device = read_copies(s, "host_to_device");
  });
  if (version > first_schema_version)
    read_section(in, "devices", [&](auto& s) {
      if (s.find("per_node")) machine.devices_per_node = s.count("per_node", 1);
      if (s.find("copy_rate_bytes_per_s")) machine.device_copy_rate_bytes_per_s = s.rate("copy_rate_bytes_per_s");
      machine.device_copy_call_s = s.optional_number("copy_call_s");
    });
  read_section(in, "local", [&](auto& s) {
    machine.copy_rate_bytes_per_s = s.rate("copy_rate_bytes_per_s");
    machine.copy_block_s = s.optional_number("copy_block_s");
    if (version > first_schema_version) machine.value_run_s = s.optional_number("value_run_s");
    if (s.find("datatype_rate_bytes_per_s")) machine.datatype_rate_bytes_per_s = s.rate("datatype_rate_bytes_per_s");
    machine.datatype_block_s = s.optional_number("datatype_block_s");
  });
  read_section(in, "operations", [&](auto& s) {
    for (const auto& [key, member, is_difference] : operation_keys)
      machine.operations.*member = is_difference ? s.optional_signed_number(key) : s.optional_number(key);
    if (version > first_schema_version && s.find("new_send_bytes"))
      machine.operations.new_send_bytes = s.count("new_send_bytes", 1);
    if (s.find("ranks")) machine.operations.ranks = s.count("ranks", 2);
  });
  if (version > first_schema_version) read_section(in, "verdict", [&](auto& s) { machine.verdict = read_verdict(s); });
  in.finish();
  return profile;
}

Profile read_profile(const std::string& path) {
  const ReadLimit limit{most_profile_bytes, "name a profile, or take what is not needed from its provenance"};
  return within_memory(path, [&] { return parse_profile(read_file(path, limit), path); });
}

namespace {

void put_rate(Json& json, const char* key, double rate) {
  if (std::isfinite(rate)) json[key] = rate;
}

Json write_channel(const Channel& channel) {
  Json json;
  json["protocols"] = Json::array();
  for (std::size_t i = 0; i < channel.protocols.size(); ++i) {
    const auto& protocol = channel.protocols[i];
    Json entry;
    entry["name"] = protocol.name;
    if (i + 1 < channel.protocols.size()) entry["max_bytes"] = protocol.max_bytes;
    entry["alpha_s"] = protocol.alpha_s;
    entry["beta_s_per_byte"] = protocol.beta_s_per_byte;
    if (protocol.alpha_next_s != protocol.alpha_s) entry["alpha_next_s"] = protocol.alpha_next_s;
    if (protocol.beta_next_s_per_byte) entry["beta_next_s_per_byte"] = *protocol.beta_next_s_per_byte;
    if (protocol.alpha_receive_s) entry["alpha_receive_s"] = *protocol.alpha_receive_s;
    if (protocol.beta_receive_s_per_byte) entry["beta_receive_s_per_byte"] = *protocol.beta_receive_s_per_byte;
    json["protocols"].push_back(entry);
  }
  if (channel.gamma_s) json["gamma_s"] = *channel.gamma_s;
  if (channel.rendezvous_from_bytes) json["rendezvous_from_bytes"] = *channel.rendezvous_from_bytes;
  put_rate(json, "aggregate_rate_bytes_per_s", channel.aggregate_rate_bytes_per_s);
  put_rate(json, "link_rate_bytes_per_s", channel.link_rate_bytes_per_s);
  return json;
}

Json write_channels(const MemoryChannels& channels) {
  Json json;
  for (const auto locality : {Locality::socket, Locality::node, Locality::network})
    if (channels.has(locality)) json[name_of(locality)] = write_channel(*channels.find(locality));
  return json;
}

Json write_copies(const std::vector<DeviceCopy>& copies) {
  Json json = Json::array();
  for (const auto& copy : copies)
    json.push_back(
        {{"processes", copy.processes}, {"alpha_s", copy.alpha_s}, {"beta_s_per_byte", copy.beta_s_per_byte}});
  return json;
}

Json write_devices(const Machine& machine) {
  Json json;
  if (machine.devices_per_node) json["per_node"] = *machine.devices_per_node;
  if (machine.device_copy_rate_bytes_per_s) json["copy_rate_bytes_per_s"] = *machine.device_copy_rate_bytes_per_s;
  if (machine.device_copy_call_s) json["copy_call_s"] = *machine.device_copy_call_s;
  return json;
}

Json write_verdict(const Verdict& verdict) {
  Json json{{"trust", name_of(verdict.trust)}, {"uncertainty", verdict.uncertainty}, {"why", verdict.why}};
  if (!verdict.remedy.empty()) json["remedy"] = verdict.remedy;
  return json;
}

/// Adds a section unless it is empty: what was not measured is absent.
void put_section(Json& json, const char* key, Json section) {
  if (!section.empty()) json[key] = std::move(section);
}

}  // namespace

std::vector<std::pair<std::string, Seconds>> measured_operations(const OperationCosts& operations) {
  std::vector<std::pair<std::string, Seconds>> result;
  for (const auto& operation : operation_keys)
    if (const auto& seconds = operations.*operation.member) result.emplace_back(operation.key, *seconds);
  return result;
}

std::string to_json(const Profile& profile) {
  const Machine& machine = profile.machine;
  Json json;
  const auto& own = machine.operations;
  const auto devices = write_devices(machine);
  const bool has_devices_or_calls = !devices.empty() || own.batch_s || own.batch_once_s || own.discovery_s;
  const int minor = own.new_send_bytes                              ? schema_minor
                    : machine.value_run_s                           ? value_run_minor
                    : std::isfinite(machine.group_rate_bytes_per_s) ? groups_minor
                    : has_devices_or_calls                          ? devices_minor
                                                                    : 0;
  // So that an older one reads it.
  json["schema_version"] = machine.verdict || minor > 0 ? schema_version : first_schema_version;
  if (minor > 0) json["schema_minor"] = minor;
  json["name"] = machine.name;
  json["provenance"] = Json::parse(profile.provenance_json);
  json["host"] = write_channels(machine.host);
  put_section(json, "device", write_channels(machine.device));
  Json copy, local, operations;
  if (!machine.device_to_host.empty()) copy["device_to_host"] = write_copies(machine.device_to_host);
  if (!machine.host_to_device.empty()) copy["host_to_device"] = write_copies(machine.host_to_device);
  put_rate(local, "copy_rate_bytes_per_s", machine.copy_rate_bytes_per_s);
  if (machine.copy_block_s) local["copy_block_s"] = *machine.copy_block_s;
  if (machine.value_run_s) local["value_run_s"] = *machine.value_run_s;
  if (machine.datatype_rate_bytes_per_s) local["datatype_rate_bytes_per_s"] = *machine.datatype_rate_bytes_per_s;
  if (machine.datatype_block_s) local["datatype_block_s"] = *machine.datatype_block_s;
  for (const auto& [key, seconds] : measured_operations(machine.operations)) operations[key] = seconds;
  if (own.new_send_bytes) operations["new_send_bytes"] = *own.new_send_bytes;
  if (machine.operations.ranks) operations["ranks"] = *machine.operations.ranks;
  for (const auto& [key, member] : shared_rate_keys) {
    Json section;
    put_rate(section, "rate_bytes_per_s", machine.*member);
    put_section(json, key, section);
  }
  put_section(json, "copy", copy);
  put_section(json, "devices", devices);
  put_section(json, "local", local);
  put_section(json, "operations", operations);
  if (machine.verdict) json["verdict"] = write_verdict(*machine.verdict);
  constexpr int indent = 2;
  return json.dump(indent) + "\n";
}

void write_profile(const Profile& profile, const std::string& path) { write_file(path, to_json(profile)); }

}  // namespace commpass
