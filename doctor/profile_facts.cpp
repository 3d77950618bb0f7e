#include "doctor/profile_facts.hpp"

#include <ctime>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "model/machine/profile_lookup.hpp"
#include "selector/commands/environment.hpp"
#include "selector/report/profile_origin.hpp"

namespace commpass {

ProfileFacts examine_profile(const std::string& library, const std::vector<std::string>& hosts) {
  ProfileFacts facts;
  try {
    const auto environment = read_environment();
    facts.name = environment.profile.value_or("");
    if (facts.name.empty()) return facts;
    const auto profile = read_profile(find_profile(facts.name, profile_directories(environment.profile_places)));
    const auto provenance = nlohmann::json::parse(profile.provenance_json);
    if (provenance.contains("date") && provenance["date"].is_string())
      facts.age_days = age_of(provenance["date"].get<std::string>(), std::time(nullptr));
    if (const auto& verdict = profile.machine.verdict) facts.verdict = name_of(verdict->trust);
    facts.warning = provenance_warning(profile, library, hosts);
  } catch (const Error& error) {
    facts.problem = error.what();
  }
  return facts;
}

}  // namespace commpass
