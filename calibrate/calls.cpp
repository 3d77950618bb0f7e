// What exchanges take beyond their messages: the calls that begin, move on and end them.
#include "calibrate/calls.hpp"

#include <map>
#include <string>

#include "calibrate/calibration.hpp"
#include "calibrate/exchange_trials.hpp"
#include "model/cost/cost.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

/// Everyone sends one message to the next rank.
Pattern to_the_next(int ranks, Bytes bytes) {
  Pattern pattern{ranks, {}};
  for (Rank rank = 0; rank < ranks; ++rank) pattern.edges.push_back({rank, (rank + 1) % ranks, bytes});
  return pattern;
}

Schedule schedule_of(const std::string& strategy, const Pattern& pattern, const Layout& layout) {
  const auto parsed = parse_strategy(strategy);
  return make_schedule(*make_route(parsed, layout), parsed.window, pattern);
}

}  // namespace

void measure_calls(Calibration& calibration) {
  calibration.progress("calls");
  if (!calibration.provenance.warning.empty()) {
    calibration.not_measured("operations.batch_s, batch_once_s, discovery_s: " + calibration.provenance.warning);
    return;
  }
  const auto& layout = calibration.layout;
  ExchangeTrials trials(calibration);
  const std::string planned = "planned", once = "called once", sparse = "sparse", direct = "standard";
  for (const Bytes bytes : {8, 64, 256}) {  // small, so that it is the calls that show
    const auto pattern = to_the_next(layout.ranks(), bytes);
    trials.add_planned(planned, pattern, {direct});
    trials.add_called_once(once, pattern, direct, [&layout, direct, pattern](const Machine& machine) {
      const auto schedule = schedule_of(direct, pattern, layout);
      return evaluate(schedule, layout, machine, CostModel::burst, Usage::once).seconds;
    });
    for (const auto* discovery : {"nbx", "reduce", "allreduce", "dense"})
      trials.add_sparse(sparse, pattern, std::string("direct+") + discovery);
  }
  trials.price_again();
  trials.time(calls_share.end);
  std::map<std::string, std::vector<HeldOut>> by_kind;
  for (const auto& result : trials.results()) by_kind[result.exchange].push_back(result);
  auto& operations = calibration.machine.operations;
  operations.batch_s = beyond_prices(by_kind[planned]);
  operations.batch_once_s = beyond_prices(by_kind[once]);
  operations.discovery_s = beyond_prices(by_kind[sparse]);
}

}  // namespace commpass
