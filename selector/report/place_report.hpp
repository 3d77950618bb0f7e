// Where a program that nobody changes exchanges, who ran its calls there, and what that saved: what a run that was
// taken over reports at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "selector/choose/measured_choice.hpp"
#include "selector/report/advice.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// How much longer the library would have taken, and the interval in which that lies with a confidence of at least 95
/// %. Negative: a loss.
struct SavedTime {
  Seconds estimate_s = 0, low_s = 0, high_s = 0;

  SavedTime& operator+=(const SavedTime& other);
  SavedTime operator*(double factor) const { return {factor * estimate_s, factor * low_s, factor * high_s}; }
  bool operator==(const SavedTime&) const = default;
};

/// Of a call by ours.
/// @param ratio  its time ÷ the library's, as measured before
SavedTime saved_by_ours(Seconds call_s, const MedianInterval& ratio);

/// Who ran the calls of a RecordedExchange, and what that saved.
struct WhoRan {
  std::int64_t by_library = 0, by_ours = 0, by_both = 0;
  SavedTime saved = {};        ///< by all calls, less the loss of trials
  bool is_saved_known = true;  ///< false: there were calls by ours that were compared with nothing
  std::string strategy = {};   ///< of the last call by ours; empty: there was none

  void add(const WhoRan& other);
};

/// The calls of one kind from one place of the program, on communicators of one size; seconds are of all of them, on
/// average over the ranks that take part.
struct ReportedPlace {
  AdvisedCall call;
  WhoRan ran;
  Seconds exchange_s = 0;  ///< apart from waiting for late ranks
  Seconds waiting_s = 0;   ///< for them
};

struct PlaceReport {
  std::vector<ReportedPlace> places = {};  ///< from the longest on
  std::size_t places_left_out = 0;
  std::optional<MachineAdvice> predicted = {};  ///< what each place would take; nothing: unpriced says why
  std::string unpriced = {};
  Seconds exchange_s = 0;      ///< of all, on average over all ranks
  SavedTime saved = {};        ///< likewise
  bool is_saved_known = true;  ///< of all of them
  bool calls_overlap = false;  ///< of threads of a rank, whose times are added up
};

/// @param ran      for each of the record's exchanges
/// @param machine  null: nothing has a price, and `unpriced` says why
PlaceReport report_places(const Record& record, const std::vector<WhoRan>& ran, const Layout& layout,
                          const Machine* machine, const std::string& unpriced);

/// For people: a table of 120 columns.
std::string place_report_text(const Record& record, const PlaceReport& report);
/// JSON, with a newline at the end; null where something is not known.
std::string place_report_json(const Record& record, const PlaceReport& report);

}  // namespace commpass
