#include "selector/commands/default_profile.hpp"

#include <fmt/core.h>

#include <atomic>
#include <cstdio>
#include <filesystem>

#include "model/base/error.hpp"
#include "model/machine/profile.hpp"
#include "selector/choose/unnamed_profile.hpp"

namespace commpass {

namespace fs = std::filesystem;

Layout any_layout() { return parse_layout("2x2x2"); }

std::string find_profile_or_default(const std::string& name, const Environment& environment, Fingerprint (*here)(),
                                    const Layout& layout) {
  const auto directories = profile_directories(environment.profile_places);
  const auto wanted = !name.empty() ? name : environment.profile.value_or("");
  if (!wanted.empty()) return find_profile(wanted, directories);
  const auto found = find_measured_profile(directories, here(), layout);
  if (!found)
    throw InputError("profile", "none is named, and none was measured on this machine",
                     "add --profile NAME or set COMMPASS_PROFILE (see 'commpass profile list'), or run 'mpirun -n 2 "
                     "commpass calibrate'");
  static std::atomic<bool> told = false;  // a report asks more than once
  if (!told.exchange(true)) std::fputs(("commpass: " + describe_unnamed(*found) + "\n").c_str(), stderr);
  return found->path;
}

std::string make_default_output(const std::string& machine_name, const Environment& environment) {
  const auto& directory = environment.profile_places.user;
  if (directory.empty())
    throw InputError("output", "the user has no directory for profiles, as neither HOME nor XDG_CONFIG_HOME is set",
                     "add -o FILE");
  if (machine_name.empty() || machine_name.starts_with(".") || machine_name.find('/') != std::string::npos)
    throw InputError("--name " + machine_name, "a file cannot have this name", "use another one or add -o FILE");
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw InputError(directory, "it cannot be made (" + error.message() + ")", "add -o FILE");
  return (fs::path(directory) / (machine_name + ".json")).string();
}

std::string replaced_warning(const std::string& path, const Fingerprint& here) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  std::string measured = "is no profile that can be read";
  try {
    const auto profile = read_profile(path);
    if (auto there = fingerprint_of(profile)) {
      if (here.mpi_library.empty()) there->mpi_library.clear();
      if (there == here) return {};
      measured = fmt::format("was measured on another machine ({}, {} processors{}{})", there->processor,
                             there->node_processors, there->mpi_library.empty() ? "" : ", ", there->mpi_library);
    } else {
      measured = "does not say on which machine it was measured";
    }
  } catch (const Error&) {}
  return fmt::format("{} is replaced, which {}; add --name NAME or -o FILE to keep both", path, measured);
}

}  // namespace commpass
