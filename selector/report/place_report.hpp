// Where a program that nobody changes exchanges, who ran its calls there, and what that saved: what a run that was
// taken over reports at its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "selector/report/advice.hpp"
#include "selector/report/record.hpp"

namespace commpass {

/// Who ran the calls of a RecordedExchange, and what that saved.
struct WhoRan {
  std::int64_t by_library = 0, by_ours = 0, by_both = 0;
  /// Of all calls: how much longer the library would have taken, by what was measured before for its kind of call,
  /// without what running some both ways has cost.
  Seconds saved_s = 0;
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
  Seconds exchange_s = 0, saved_s = 0;  ///< of all, on average over all ranks
};

/// @param ran      for each of the record's exchanges
/// @param machine  null: nothing has a price, and `unpriced` says why
PlaceReport report_places(const Record& record, const std::vector<WhoRan>& ran, const Layout& layout,
                          const Machine* machine, const std::string& unpriced);

/// For people: a table.
std::string place_report_text(const Record& record, const PlaceReport& report);
/// JSON, with a newline at the end; null where something is not known.
std::string place_report_json(const Record& record, const PlaceReport& report);

}  // namespace commpass
