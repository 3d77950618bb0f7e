#include "model/machine/pace.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/format.hpp"
#include "model/base/json.hpp"
#include "model/base/text.hpp"
#include "model/machine/machine.hpp"
#include "model/machine/miss.hpp"

namespace commpass {

std::string describe_pace(std::span<const Pace> paces) {
  std::vector<std::string> each;
  for (const auto& pace : paces) each.push_back(fmt::format("{} {}", format_seconds(pace.seconds), pace.place));
  return fmt::format("{} take {}", format_bytes(pace_bytes), join(each, ", "));
}

std::vector<Pace> pace_of(const Profile& profile) {
  std::vector<Pace> paces;
  const auto found = Json::parse(profile.provenance_json).value("pace", Json());
  for (Level level = 0; level <= profile.machine.outermost(); ++level)
    if (const auto seconds = found.optional<Seconds>(profile.machine.name_of(level)))
      paces.push_back({profile.machine.name_of(level), place_of(profile.machine, level), *seconds});
  return paces;
}

std::string pace_warning(std::span<const Pace> then, std::span<const Pace> now) {
  std::string warning;
  double most = another_pace - 1;
  for (const auto& [level, place, seconds] : now) {
    const auto before = std::ranges::find(then, level, &Pace::level);
    if (before == then.end() || seconds <= 0 || before->seconds <= 0) continue;
    const double miss = miss_between(seconds, before->seconds);
    if (miss <= most) continue;
    most = miss;
    warning = fmt::format(
        "a message of {} {} takes {} now, and took {} when the profile was measured: the machine is {} than it was",
        format_bytes(pace_bytes), place, format_seconds(seconds), format_seconds(before->seconds),
        seconds > before->seconds ? "slower" : "faster");
  }
  return warning;
}

}  // namespace commpass
