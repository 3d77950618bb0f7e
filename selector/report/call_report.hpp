// What `measure --sparse` and `--one-shot` tell, where each call of the library chooses anew: a table for people, JSON
// for machines.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

struct CallReportRow {
  std::string name;
  std::optional<Seconds> predicted_s;  ///< absent where the selector does not consider it
  Seconds measured_s = 0;
};

struct CallReport {
  std::vector<std::pair<std::string, std::string>> context;
  std::string chosen;                    ///< what the library takes by itself when it has seen the exchange some times
  Seconds chosen_s = 0;                  ///< measured, with all that choosing adds
  std::vector<CallReportRow> rows;       ///< strategies by predicted time
  std::string baseline_kind;             ///< in a few words
  std::vector<CallReportRow> baselines;  ///< what others do
  std::optional<Seconds> barrier_s{},
      tally_s{};  ///< measured: a non-blocking barrier, and the reduction that stands for it at the end of nbx

  /// chosen_s ÷ time of the fastest strategy or baseline; below 1 where that was run a moment earlier or later.
  double regret() const;
};

std::string call_report_table(const CallReport& report);
std::string call_report_json(const CallReport& report);

}  // namespace commpass
