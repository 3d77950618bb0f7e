#include "runtime/choose/find_machine.hpp"

#include <fmt/core.h>

#include "model/machine/stand_ins.hpp"
#include "runtime/choose/warn_once.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/ranks.hpp"
#include "selector/choose/unnamed_profile.hpp"

namespace commpass {

namespace {

std::string generic_warning(const Profile& profile) {
  return fmt::format(
      "no profile is named and none was measured on this machine, so strategies are chosen by the built-in profile "
      "'{}', which knows nothing of it; run 'mpirun -n N commpass calibrate'.",
      profile.machine.name);
}

}  // namespace

Profile find_profile_here(const std::string& name, const Layout& layout, const Environment& environment) {
  const auto wanted = !name.empty() ? name : environment.profile.value_or("");
  const auto directories = profile_directories(environment.profile_places);
  if (!wanted.empty()) return read_profile(find_profile(wanted, directories));
  auto found = find_unnamed_profile(directories, fingerprint_here(), layout);
  if (found.choice == ProfileChoice::built_in) warn_once(generic_warning(found.profile));
  else if (environment.verbose) warn_once(describe_unnamed(found));
  return std::move(found.profile);
}

Machine find_machine(MPI_Comm comm, const std::string& name, const Layout& layout, const Environment& environment) {
  const auto json = found_by_rank_0(comm, [&] {
    const auto profile = find_profile_here(name, layout, environment);
    if (const auto warning = use_warning(profile, surroundings_here(layout)); !warning.empty()) warn_once(warning);
    return to_json(profile);
  });
  return with_stand_ins(parse_profile(json, "profile of rank 0").machine);
}

}  // namespace commpass
