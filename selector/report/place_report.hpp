// The report at the end of a run with libcommpass-mpi: by place of the program, who ran the calls, and the saved time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "selector/choose/median_interval.hpp"
#include "selector/report/advice.hpp"
#include "selector/report/document.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// Time of the calls by the library less their own time, and its interval of at least 95 % confidence. Negative: a
/// loss.
struct SavedTime {
  Seconds estimate_s = 0, low_s = 0, high_s = 0;

  SavedTime& operator+=(const SavedTime& other);
  SavedTime operator*(double factor) const { return {factor * estimate_s, factor * low_s, factor * high_s}; }
  bool operator==(const SavedTime&) const = default;
};

/// The saving of one call by ours.
/// @param ratio  its time ÷ the library's, as trials measured it
SavedTime saved_by_ours(Seconds call_s, const MedianInterval& ratio);

/// Who ran the calls of a RecordedExchange, and the saved time; ranks tell them as they are in memory.
struct RunCounts {
  std::int64_t by_library = 0, by_ours = 0, by_both = 0;
  SavedTime saved = {};        ///< by all calls, less the loss of trials
  bool is_saved_known = true;  ///< false: some calls by ours had no trial

  std::int64_t calls() const { return by_library + by_ours + by_both; }
};

struct WhoRan : RunCounts {
  std::string strategy = {};  ///< of the last call by ours; empty: none

  void add(const WhoRan& other);
};

/// The calls of one kind from one place of the program, on communicators of one size. Seconds are sums over the calls,
/// averaged over the participating ranks.
struct ReportedPlace {
  AdvisedCall call;
  WhoRan ran;
  Seconds exchange_s = 0;  ///< without waiting for late ranks
  Seconds waiting_s = 0;   ///< for late ranks

  /// Calls that only start an exchange have no time.
  bool is_timed() const { return exchange_s > 0; }
};

struct PlaceReport {
  std::vector<ReportedPlace> places = {};  ///< by descending time
  std::size_t places_left_out = 0;
  std::optional<MachineAdvice> predicted = {};  ///< prices of each place; nothing: see unpriced
  std::string unpriced = {};                    ///< the reason why there are no prices
  Seconds exchange_s = 0;                       ///< of all places, averaged over all ranks
  SavedTime saved = {};                         ///< likewise
  bool is_saved_known = true;                   ///< of all places
  bool calls_overlap = false;                   ///< threads of a rank called at once; times are their sums
  bool are_sampled = false;                     ///< calls stood for others
};

/// @param ran      for each of the record's exchanges
/// @param machine  null: no prices, for the reason `unpriced`
PlaceReport report_places(const Record& record, const std::vector<WhoRan>& ran, const Layout& layout,
                          const Machine* machine, const std::string& unpriced);

/// A table of 120 columns, and JSON, where unknown values are null. Text of no places is empty.
Document document_of(const Record& record, const PlaceReport& report);

}  // namespace commpass
