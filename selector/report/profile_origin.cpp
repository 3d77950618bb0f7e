#include "selector/report/profile_origin.hpp"

#include <fmt/format.h>

#include <ctime>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "model/text.hpp"
#include "selector/report/sha256.hpp"

namespace commpass {

namespace {

constexpr auto* hash_kind = "sha256";

/// An MPI library: "Open MPI v4.1.4" is "Open MPI" and "4.1.4".
struct Library {
  std::string name, version;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The version is the first word that begins with a digit, or a v and a digit; the name is what stands before it, but
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

std::string provenance_warning(const Profile& profile, const std::string& mpi_library,
                               const std::vector<std::string>& hosts) {
  const auto provenance = nlohmann::json::parse(profile.provenance_json);
  const auto text_of = [&](const char* key) {
    return provenance.contains(key) && provenance[key].is_string() ? provenance[key].get<std::string>() : std::string();
  };
  constexpr auto* remedy = "predictions may be off, so calibrate here ('mpirun -n N commpass calibrate')";
  const auto& name = profile.machine.name;
  const auto measured_with = text_of("mpi_library");
  if (measured_with.empty())
    return fmt::format(
        "profile {} does not say with which MPI library it was measured, so perhaps on another machine; {}.", name,
        remedy);
  const auto on_date = text_of("date").empty() ? "" : " on " + text_of("date");
  if (measured_with != mpi_library) {
    const auto then = parse_library(measured_with), now = parse_library(mpi_library);
    if (then.name != now.name || then.version.empty() || now.version.empty())
      return fmt::format("profile {} was measured with {}{}, but this is {}; {}.", name, measured_with, on_date,
                         mpi_library, remedy);
    if (then.version != now.version)
      return fmt::format("profile {} was measured with {} {}{}, but this is version {}; {}.", name, then.name,
                         then.version, on_date, now.version, remedy);
  }
  if (!hosts.empty() && is_of_others(text_of("host_hash"), hosts))
    return fmt::format("profile {} was measured{} on other hosts than these; if they are of another kind, {}.", name,
                       on_date, remedy);
  if (const auto& verdict = profile.machine.verdict; verdict && verdict->trust == Trust::none)
    return fmt::format("profile {} is not to be trusted: {}; {}.", name, verdict->why, verdict->remedy);
  return {};
}

}  // namespace commpass
