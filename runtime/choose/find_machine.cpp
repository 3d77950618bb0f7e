#include "runtime/choose/find_machine.hpp"

#include <fmt/core.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/fingerprint.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/surroundings.hpp"
#include "selector/choose/unnamed_profile.hpp"

namespace commpass {

namespace {

/// fmt::print would throw where stderr is closed, and all ranks would fail for a warning.
void warn(const std::string& line) { std::fputs(line.c_str(), stderr); }

void warn_generic(const Profile& profile) {
  static std::atomic<bool> told = false;
  if (told.exchange(true)) return;
  warn(fmt::format(
      "commpass: no profile is named and none was measured on this machine, so strategies are chosen by the "
      "built-in profile '{}', which knows nothing of it; run 'mpirun -n N commpass calibrate'.\n",
      profile.machine.name));
}

/// Of a program that asks for it: which profile was found, once.
void tell_found(const FoundProfile& found) {
  static std::atomic<bool> told = false;
  if (!told.exchange(true)) warn(describe_unnamed(found) + "\n");
}

/// What is off about a profile where it is used, each once.
void warn_of(const Profile& profile, const Layout& layout) {
  const auto warning = use_warning(profile, surroundings_here(layout));
  static std::mutex access;
  static std::set<std::string> told;
  const std::lock_guard alone(access);
  if (!warning.empty() && told.insert(warning).second) warn(fmt::format("commpass: {}\n", warning));
}

}  // namespace

Profile find_profile_here(const std::string& name, const Layout& layout, const Environment& environment) {
  const auto wanted = !name.empty() ? name : environment.profile.value_or("");
  const auto directories = profile_directories(environment.profile_places);
  if (!wanted.empty()) return read_profile(find_profile(wanted, directories));
  auto found = find_unnamed_profile(directories, fingerprint_here(), layout);
  if (found.choice == ProfileChoice::built_in) warn_generic(found.profile);
  else if (environment.verbose) tell_found(found);
  return std::move(found.profile);
}

Machine find_machine(MPI_Comm comm, const std::string& name, const Layout& layout, const Environment& environment) {
  const auto json = found_by_rank_0(comm, [&] {
    const auto profile = find_profile_here(name, layout, environment);
    warn_of(profile, layout);
    return to_json(profile);
  });
  return parse_profile(json, "profile of rank 0").machine;
}

}  // namespace commpass
