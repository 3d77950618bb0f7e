#include "runtime/choose/find_machine.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/fingerprint.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

namespace {

void warn_generic(const Profile& profile) {
  static std::atomic<bool> told = false;
  if (told.exchange(true)) return;
  fmt::print(stderr,
             "commpass: no profile is named and none was measured on this machine, so strategies are chosen by the "
             "built-in profile '{}', which knows nothing of it; run 'mpirun -n N commpass calibrate -o FILE' and set "
             "COMMPASS_PROFILE=FILE.\n",
             profile.machine.name);
}

}  // namespace

Profile find_profile_here(const std::string& name, const Layout& layout, const Environment& environment) {
  const auto wanted = !name.empty() ? name : environment.profile.value_or("");
  const auto directories = profile_directories(environment.profile_places);
  if (!wanted.empty()) return read_profile(find_profile(wanted, directories));
  auto found = find_unnamed_profile(directories, fingerprint_here(), layout);
  if (found.choice == ProfileChoice::built_in) warn_generic(found.profile);
  return std::move(found.profile);
}

Machine find_machine(MPI_Comm comm, const std::string& name, const Layout& layout, const Environment& environment) {
  std::string json;
  all_or_none(comm, [&] {
    if (rank_in(comm) == 0) json = to_json(find_profile_here(name, layout, environment));
  });
  return parse_profile(broadcast(comm, json), "profile of rank 0").machine;
}

}  // namespace commpass
