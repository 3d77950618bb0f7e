#include "doctor/profile_facts.hpp"

#include <ctime>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/error.hpp"
#include "model/machine/profile_lookup.hpp"
#include "selector/commands/environment.hpp"
#include "selector/report/profile_origin.hpp"

namespace commpass {

std::optional<double> age_of(const std::string& date, std::time_t now) {
  std::tm time{};
  std::istringstream text(date);
  text >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  if (text.fail()) return {};
  constexpr double day = 86400;
  return std::difftime(now, timegm(&time)) / day;
}

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
    facts.warning = provenance_warning(profile, library, hosts);
  } catch (const Error& error) {
    facts.problem = error.what();
  }
  return facts;
}

}  // namespace commpass
