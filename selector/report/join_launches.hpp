// What several launches of `commpass measure` say together: one launch is not like the next.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// The least, the middle and the most of several launches.
struct OverLaunches {
  double least = 0, middle = 0, most = 0;
};

struct LaunchRow {
  std::string name;
  bool is_strategy = true;  ///< false: what others do
  std::optional<Seconds> predicted_s;
  OverLaunches measured_s;
};

struct JoinedLaunches {
  std::size_t launches = 0;
  std::string chosen;
  std::vector<LaunchRow> rows;  ///< as they are ranked; only what was run in all launches
  OverLaunches regret;          ///< time of the choice ÷ that of what is fastest in the middle, in the same launch
  /// The choice is as fast as that in some launch, and so not told apart from it.
  bool is_fastest_in_some() const { return regret.least <= 1; }
};

/// @param reports  what `measure --json` has printed in each launch; at least one
/// @throws InputError if one is no such report, or they have no time in common
JoinedLaunches join_launches(std::span<const std::string> reports);

std::string launches_table(const JoinedLaunches& joined);
std::string launches_json(const JoinedLaunches& joined);

}  // namespace commpass
