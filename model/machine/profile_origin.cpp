#include "model/machine/profile_origin.hpp"

#include <fmt/core.h>

#include <ctime>
#include <iomanip>
#include <set>
#include <sstream>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/sha256.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

constexpr auto* hash_kind = "sha256";

/// An MPI library: "Open MPI v4.1.4" is "Open MPI" and "4.1.4".
struct Library {
  std::string name, version;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The version is the first word that begins with a digit, or a v and a digit; the name is the text before it, but
/// for the word "version".
Library parse_library(std::string text) {
  for (char& c : text)
    if (c == '\t' || c == ':') c = ' ';
  Library library;
  for (const auto& word : split(text, ' ')) {
    if (word.empty() || word == "version" || word == "Version") continue;
    const std::size_t begin = word.size() > 1 && word[0] == 'v' ? 1 : 0;
    if (is_digit(word[begin])) {
      library.version = word.substr(begin);
      break;
    }
    library.name += (library.name.empty() ? "" : " ") + word;
  }
  return library;
}

/// Is `hash`, as host_hash gives it, of other hosts? Not if it is of a kind that this Commpass does not know.
bool is_of_others(const std::string& hash, const std::vector<std::string>& hosts) {
  const auto parts = split(hash, ':');
  constexpr std::size_t part_count = 3;  // kind, salt, digest
  return parts.size() == part_count && parts[0] == hash_kind && host_hash(hosts, parts[1]) != hash;
}

}  // namespace

std::string host_hash(const std::vector<std::string>& names, const std::string& salt) {
  std::string text = salt;
  for (const auto& name : std::set(names.begin(), names.end())) text += '\n' + name;
  return fmt::format("{}:{}:{}", hash_kind, salt, sha256(text));
}

std::optional<double> age_of(const std::string& date, std::time_t now) {
  std::tm time{};
  std::istringstream text(date);
  text >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  if (text.fail()) return {};
  constexpr double day = 86400;
  return std::difftime(now, timegm(&time)) / day;
}

namespace {

/// What a profile was measured with, as far as it says so.
Surroundings then_of(const Json& provenance) {
  Surroundings then{provenance.text("mpi_library"), {}, provenance.text("partition"), 0, {}};
  if (provenance.contains("transport")) then.transport = provenance.text("transport");
  then.ranks_per_node = provenance.value("ranks_per_node", Json()).integer<int>().value_or(0);
  return then;
}

/// A property of the machine on which a profile was measured, and of this one.
struct Mismatch {
  std::string then, here;
};

std::optional<Mismatch> mismatch_of_libraries(const std::string& measured_with, const std::string& runs) {
  if (measured_with.empty() || runs.empty() || measured_with == runs) return {};
  const auto then = parse_library(measured_with), now = parse_library(runs);
  if (then.name != now.name || then.version.empty() || now.version.empty())
    return Mismatch{"with " + measured_with, "this is " + runs};
  if (then.version == now.version) return {};
  return Mismatch{fmt::format("with {} {}", then.name, then.version), "this is version " + now.version};
}

std::string at_most_ranks(int of_node) {
  return fmt::format("at most {} rank{} a node", of_node, of_node == 1 ? "" : "s");
}

std::vector<Mismatch> mismatches(const Surroundings& then, const Surroundings& here) {
  std::vector<Mismatch> found;
  if (auto library = mismatch_of_libraries(then.mpi_library, here.mpi_library)) found.push_back(std::move(*library));
  const auto settings = [](const std::string& transport) { return transport.empty() ? "its own choice" : transport; };
  if (then.transport && here.transport && *then.transport != *here.transport)
    found.push_back({fmt::format("with its transport as '{}'", settings(*then.transport)),
                     fmt::format("here it is '{}'", settings(*here.transport))});
  if (!then.partition.empty() && !here.partition.empty() && then.partition != here.partition)
    found.push_back({fmt::format("in partition '{}'", then.partition), fmt::format("this is '{}'", here.partition)});
  if (then.ranks_per_node > 0 && here.ranks_per_node > then.ranks_per_node)
    found.push_back({"with " + at_most_ranks(then.ranks_per_node), fmt::format("here are {}", here.ranks_per_node)});
  return found;
}

constexpr auto* calibrate_here = "predictions may be off, so calibrate here ('mpirun -n N commpass calibrate')";

std::string warning_of_use(const Profile& profile, const Json& provenance, const Surroundings& here) {
  const auto& name = profile.machine.name;
  const auto date = provenance.text("date");
  const auto on_date = date.empty() ? "" : " on " + date;
  std::string text;
  for (const auto& [then, now] : mismatches(then_of(provenance), here))
    text += text.empty() ? fmt::format("profile {} was measured {}{}, but {}", name, then, on_date, now)
                         : fmt::format(", and {}, but {}", then, now);
  if (!text.empty()) return fmt::format("{}; {}.", text, calibrate_here);
  if (!here.hosts.empty() && is_of_others(provenance.text("host_hash"), here.hosts))
    return fmt::format("profile {} was measured{} on other hosts than these; if they are of another kind, {}.", name,
                       on_date, calibrate_here);
  if (const auto& verdict = profile.machine.verdict; verdict && verdict->trust == Trust::none)
    return fmt::format("profile {} is not to be trusted: {}; {}.", name, verdict->why, verdict->remedy);
  return {};
}

/// With that of unknown keys behind it.
std::string with_unknown_keys(std::string warning, const Profile& profile) {
  const auto further = unknown_keys_warning(profile);
  if (!warning.empty() && !further.empty()) warning += " And ";
  return warning + further;
}

}  // namespace

std::string unknown_keys_warning(const Profile& profile) {
  if (profile.unknown_keys.empty()) return {};
  return fmt::format(
      "profile {} was written by a newer Commpass, and what this one does not know counts for nothing "
      "({}); update Commpass.",
      profile.machine.name, join(profile.unknown_keys, ", "));
}

std::string use_warning(const Profile& profile, const Surroundings& here) {
  return with_unknown_keys(warning_of_use(profile, Json::parse(profile.provenance_json), here), profile);
}

std::string provenance_warning(const Profile& profile, const Surroundings& here) {
  if (Json::parse(profile.provenance_json).text("mpi_library").empty())
    return with_unknown_keys(
        fmt::format("profile {} does not say with which MPI library it was measured, so perhaps on "
                    "another machine; {}.",
                    profile.machine.name, calibrate_here),
        profile);
  return use_warning(profile, here);
}

std::string describe_origin(const Profile& profile, std::time_t now) {
  const auto provenance = Json::parse(profile.provenance_json);
  const auto then = then_of(provenance);
  const auto age = age_of(provenance.text("date"), now);
  if (!age && then.mpi_library.empty()) return {};
  auto text = fmt::format("Profile {}: measured", profile.machine.name);
  if (age) text += fmt::format(" {:.0f} days ago", *age);
  if (!then.mpi_library.empty()) text += " with " + then.mpi_library;
  if (then.ranks_per_node > 0)
    text += (then.mpi_library.empty() ? " with " : " and ") + at_most_ranks(then.ranks_per_node);
  if (!then.partition.empty()) text += fmt::format(", in partition '{}'", then.partition);
  if (const auto& verdict = profile.machine.verdict) text += fmt::format("; verdict: {}", name_of(verdict->trust));
  return text + ".\n";
}

}  // namespace commpass
