#include "doctor/findings.hpp"

#include <ctime>

#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "selector/choose/unnamed_profile.hpp"
#include "selector/environment/environment.hpp"

namespace commpass {

namespace {

/// As programs look for it (runtime/choose/find_machine.hpp).
Profile find(ProfileFacts& facts, const Fingerprint& here, const Layout& layout) {
  const auto environment = read_environment();
  const auto directories = profile_directories(environment.profile_places);
  if (environment.profile) {
    facts.name = *environment.profile;
    return read_profile(find_profile(facts.name, directories));
  }
  auto found = find_unnamed_profile(directories, here, layout);
  facts.choice = found.choice;
  facts.name = found.profile.machine.name + (found.path.empty() ? "" : " (" + found.path + ")");
  return std::move(found.profile);
}

}  // namespace

ProfileFacts examine_profile(const Fingerprint& here, const Layout& layout, const Surroundings& runs) {
  ProfileFacts facts;
  try {
    const auto profile = find(facts, here, layout);
    const auto provenance = Json::parse(profile.provenance_json);
    if (provenance.contains("date") && provenance["date"].is_string())
      facts.age_days = age_of(provenance["date"].get<std::string>(), std::time(nullptr));
    facts.json = to_json(profile);
    facts.pace = pace_of(profile);
    if (const auto& verdict = profile.machine.verdict) facts.verdict = name_of(verdict->trust);
    facts.warning = provenance_warning(profile, runs);
  } catch (const Error& error) {
    facts.problem = error.what();
  }
  return facts;
}

}  // namespace commpass
