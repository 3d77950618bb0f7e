#include "model/machine/profile_lookup.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/base/nearest_names.hpp"
#include "model/base/text.hpp"
#include "model/machine/generic_profile.hpp"

namespace commpass {

namespace fs = std::filesystem;

namespace {

constexpr auto* below_prefix = "share/commpass/profiles";

/// The shared library or the program that holds this code; empty: not known.
std::string own_file() {
  Dl_info info{};
  std::error_code ignored;
  // Of a program the loader knows the name that it was called by; the system knows the file.
  if (dladdr(reinterpret_cast<const void*>(&installed_profiles), &info) && info.dli_fname &&
      std::string(info.dli_fname).find(".so") != std::string::npos)
    return fs::canonical(info.dli_fname, ignored).string();
  return fs::read_symlink("/proc/self/exe", ignored).string();
}

}  // namespace

std::string installed_profiles(const std::string& library_or_program) {
  constexpr int levels = 3;  // PREFIX/lib/TRIPLET/libcommpass.so
  fs::path directory = fs::path(library_or_program).parent_path();
  std::error_code ignored;
  for (int level = 0; level < levels && directory.has_relative_path(); ++level) {
    directory = directory.parent_path();
    if (fs::is_directory(directory / below_prefix, ignored)) return (directory / below_prefix).string();
  }
  return {};
}

std::vector<std::string> profile_directories(const ProfilePlaces& places) {
  auto directories = places.first;
  directories.emplace_back("profiles");
  if (!places.user.empty()) directories.push_back(places.user);
  directories.emplace_back("/etc/commpass");
  for (const auto& prefix : places.prefixes) directories.push_back((fs::path(prefix) / below_prefix).string());
  if (const auto own = installed_profiles(own_file()); !own.empty()) directories.push_back(own);
  for (const auto& built_in : split(COMMPASS_PROFILE_DIRECTORIES, ':')) directories.push_back(built_in);
  return directories;
}

std::vector<std::string> list_profiles(const std::vector<std::string>& directories) {
  std::map<std::string, std::string> found;
  for (const auto& directory : directories) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored))
      if (entry.path().extension() == ".json" && entry.path().stem() != "schema")
        found.try_emplace(entry.path().stem().string(), entry.path().string());
  }
  std::vector<std::string> paths;
  for (const auto& [name, path] : found) paths.push_back(path);
  return paths;
}

std::string find_profile(const std::string& name_or_path, const std::vector<std::string>& directories) {
  std::error_code ignored;
  if (fs::exists(name_or_path, ignored) && !fs::is_directory(name_or_path, ignored)) return name_or_path;
  const bool is_name = !name_or_path.empty() && name_or_path.find('/') == std::string::npos;
  std::string looked_in;
  for (const auto& directory : directories) {
    if (!is_name) break;
    const auto path = fs::path(directory) / (name_or_path + ".json");
    if (fs::is_regular_file(path, ignored)) return path.string();
    looked_in += (looked_in.empty() ? "" : ", ") + directory;
  }
  std::vector<std::string> names;
  for (const auto& path : is_name ? list_profiles(directories) : std::vector<std::string>{})
    names.push_back(fs::path(path).stem().string());
  if (const auto near = did_you_mean(is_name ? fs::path(name_or_path).stem().string() : "", names); !near.empty())
    throw InputError("profile " + name_or_path, "there is none of that name",
                     near + "'commpass profile list' lists all");
  throw InputError("profile " + name_or_path,
                   is_name ? "there is no such file, nor a profile of that name in " + looked_in
                   : fs::is_directory(name_or_path, ignored) ? "it is a directory"
                                                             : "there is no such file",
                   "see 'commpass profile list' or run 'mpirun -n 2 commpass calibrate'");
}

std::optional<Fingerprint> fingerprint_of(const Profile& profile) {
  const auto provenance = Json::parse(profile.provenance_json);
  const auto mpi_library = provenance.optional<std::string>("mpi_library");
  if (!mpi_library) return {};
  Fingerprint result{provenance.text("processor"),
                     provenance.value("node_processors", Json()).integer<int>().value_or(0), *mpi_library};
  if (result.processor.empty() || result.node_processors == 0) return {};
  return result;
}

std::string processor_model(const std::string& cpuinfo) {
  // x86; Power; Arm has numbers, one a line.
  constexpr const char* keys[] = {"model name", "cpu\t", "CPU implementer", "CPU part"};
  std::ifstream file(cpuinfo);
  std::string model;
  for (std::string line; std::getline(file, line) && !line.empty();) {  // the first processor ends at an empty line, or
    if (line.starts_with("processor") && !model.empty()) break;         // where the next begins
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (std::ranges::any_of(keys, [&](const char* key) { return line.starts_with(key); }))
      model += (model.empty() ? "" : " ") + line.substr(colon + 2);
  }
  return model;
}

Fingerprint host_fingerprint() {
  const auto processors = std::max(0L, sysconf(_SC_NPROCESSORS_CONF));
  return {processor_model(), static_cast<int>(processors), {}};
}

Profile generic_profile() { return parse_profile(generic_profile_json, "the profile that is built in"); }

}  // namespace commpass
