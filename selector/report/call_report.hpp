// The report of `measure` where each call chooses anew, as with --sparse and --one-shot.
#pragma once

#include "model/base/types.hpp"
#include "selector/report/document.hpp"

namespace commpass {

struct CallReportRow {
  std::string name;
  std::optional<Seconds> predicted_s;  ///< absent where the selector does not consider it
  Seconds measured_s = 0;
};

struct CallReport {
  ReportContext context;
  std::string chosen;                    ///< the library's choice, after some calls of the same exchange
  Seconds chosen_s = 0;                  ///< measured, with the overhead of choosing
  std::vector<CallReportRow> rows;       ///< strategies by predicted time
  std::string baseline_kind;             ///< a description of the baselines in a few words
  std::vector<CallReportRow> baselines;  ///< the exchange by other means than Commpass
  /// Measured: a non-blocking barrier, and the reduction that replaces it at the end of nbx.
  std::optional<Seconds> barrier_s{}, tally_s{};

  /// chosen_s ÷ the time of the fastest strategy or baseline; noise may take it below 1.
  double regret() const;
};

/// CSV has the rows, the baselines, and in the last row the choice (`kind`: strategy, baseline, choice).
Document document_of(const CallReport& report);

}  // namespace commpass
