// One report of several launches of `commpass measure`, since times differ between launches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "selector/report/document.hpp"

namespace commpass {

struct OverLaunches {
  double min = 0, median = 0, max = 0;
};

struct LaunchRow {
  std::string name;
  bool is_strategy = true;  ///< false: a baseline
  std::optional<Seconds> predicted_s;
  OverLaunches measured_s;
};

struct JoinedLaunches {
  std::size_t launches = 0;
  std::string chosen;
  std::vector<LaunchRow> rows;  ///< by rank; each was run in all launches
  OverLaunches regret;          ///< in each launch: time of the choice ÷ that of the row with the least median
  /// In some launch the choice is at least as fast, so the launches do not distinguish both.
  bool is_fastest_in_some() const { return regret.min <= 1; }
};

/// @param reports  the output of `measure --json` in each launch; at least one
/// @throws InputError if one is not such a report, or no strategy was measured in all launches
JoinedLaunches join_launches(std::span<const std::string> reports);

Document document_of(const JoinedLaunches& joined);

}  // namespace commpass
