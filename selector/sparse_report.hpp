// What `measure --sparse` tells: a table for people, JSON for machines (design §6).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/types.hpp"

namespace commpass {

struct SparseReportRow {
  std::string name;
  std::optional<Seconds> predicted_s;  ///< absent where the selector does not consider it
  Seconds measured_s = 0;
};

struct SparseReport {
  std::vector<std::pair<std::string, std::string>> context;
  std::string chosen;                      ///< what the library takes by itself when it has seen the exchange some times
  Seconds chosen_s = 0;                    ///< measured, with all that choosing adds
  std::vector<SparseReportRow> rows;       ///< strategies by predicted time
  std::vector<SparseReportRow> baselines;  ///< what applications write by hand
  Seconds barrier_s = 0, tally_s = 0;      ///< measured: a non-blocking barrier, and the reduction that stands for it at the end of nbx

  /// chosen_s ÷ time of the fastest strategy; below 1 where that was run a moment earlier or later.
  double regret() const;
};

std::string sparse_report_table(const SparseReport& report);
std::string sparse_report_json(const SparseReport& report);

}  // namespace commpass
