#include "selector/choose/unnamed_profile.hpp"

#include "model/base/error.hpp"
#include "model/base/json.hpp"
#include "model/cost/cost.hpp"

namespace commpass {

std::optional<FoundProfile> find_measured_profile(const std::vector<std::string>& directories, const Fingerprint& here,
                                                  const Layout& layout) {
  using Merit = std::pair<bool, std::string>;  // has all parameters; date
  std::optional<FoundProfile> best;
  Merit best_merit;
  for (const auto& path : list_profiles(directories)) {
    try {
      auto profile = read_profile(path);
      auto measured_on = fingerprint_of(profile);
      if (measured_on && here.mpi_library.empty()) measured_on->mpi_library.clear();
      if (measured_on != here) continue;
      const auto provenance = Json::parse(profile.provenance_json);
      Merit merit(!missing_parameters(layout, profile.machine), provenance.value("date", std::string()));
      if (best && merit <= best_merit) continue;
      best = {std::move(profile), ProfileChoice::measured_here, path};
      best_merit = std::move(merit);
    } catch (const Error&) {  // among them a date that is no text
    }
  }
  return best;
}

FoundProfile find_unnamed_profile(const std::vector<std::string>& directories, const Fingerprint& here,
                                  const Layout& layout) {
  if (auto measured = find_measured_profile(directories, here, layout)) return std::move(*measured);
  return {generic_profile(), ProfileChoice::built_in};
}

std::string describe_unnamed(const FoundProfile& found) {
  return "profile " + found.profile.machine.name + " (" + found.path + "), as none is named.";
}

}  // namespace commpass
