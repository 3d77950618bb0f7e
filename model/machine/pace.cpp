#include "model/machine/pace.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/miss.hpp"

namespace commpass {

namespace {

/// A profile names the places of its paces by standard levels.
std::string place_of(Level level) { return place_of(Machine(), level); }

}  // namespace

std::string describe_pace(std::span<const Pace> paces) {
  std::vector<std::string> each;
  for (const auto& [level, seconds] : paces)
    each.push_back(fmt::format("{} {}", format_seconds(seconds), place_of(level)));
  return fmt::format("{} take {}", format_bytes(pace_bytes), join(each, ", "));
}

std::vector<Pace> pace_of(const Profile& profile) {
  std::vector<Pace> paces;
  const auto provenance = Json::parse(profile.provenance_json);
  const auto* found = provenance.find("pace");
  if (!found || !found->is_object()) return paces;
  for (const auto level : {standard_level::socket, standard_level::node, standard_level::network})
    if (const auto seconds = found->value(standard_level::name(level), Json()); seconds.is_number())
      paces.push_back({level, seconds.get<Seconds>()});
  return paces;
}

std::string pace_warning(std::span<const Pace> then, std::span<const Pace> now) {
  std::string warning;
  double most = another_pace - 1;
  for (const auto& [level, seconds] : now) {
    const auto before = std::ranges::find(then, level, &Pace::level);
    if (before == then.end() || seconds <= 0 || before->seconds <= 0) continue;
    const double miss = miss_between(seconds, before->seconds);
    if (miss <= most) continue;
    most = miss;
    warning = fmt::format(
        "a message of {} {} takes {} now, and took {} when the profile was measured: the machine is {} than it was",
        format_bytes(pace_bytes), place_of(level), format_seconds(seconds), format_seconds(before->seconds),
        seconds > before->seconds ? "slower" : "faster");
  }
  return warning;
}

}  // namespace commpass
