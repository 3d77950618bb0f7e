// Ranks that exchange round by round wait for one another, the longer the more there are.
#include "calibrate/fit/skew.hpp"

#include <fmt/core.h>

#include "calibrate/calibration.hpp"
#include "calibrate/exchange_trials.hpp"

namespace commpass {

void measure_skew(Calibration& calibration) {
  constexpr const char* key = "operations.skew_s";
  const auto& layout = calibration.layout;
  if (!calibration.has_ranks_for(key)) return;
  if (!calibration.provenance.warning.empty())
    return calibration.not_measured(fmt::format("{}: {}", key, calibration.provenance.warning));
  calibration.progress("waits between rounds");
  ExchangeTrials trials(calibration);
  for (const Bytes bytes : {8, 64, 256})  // small, so that waits count
    trials.add_planned("rounds between nodes", make_rounds(layout, bytes), {skew_strategy});
  trials.price_again();
  trials.time(skew_share.end);
  calibration.machine.operations.skew_s = fit_skew(trials.results(), layout, calibration.machine);
}

}  // namespace commpass
