// What the processors of real clusters spend beside messages: calls of an exchange, and other programs. Simulated
// clusters have neither: tests/simulation/calls.cpp takes the place of this file.
#include <map>
#include <string>

#include "calibrate/calibration.hpp"
#include "calibrate/exchange_trials.hpp"
#include "calibrate/fit/verdict.hpp"
#include "doctor/other_programs.hpp"
#include "model/cost/cost.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

/// Every rank sends a message to the next rank.
Pattern make_ring_pattern(int ranks, Bytes bytes) {
  Pattern pattern{ranks, {}};
  for (Rank rank = 0; rank < ranks; ++rank) pattern.edges.push_back({rank, (rank + 1) % ranks, bytes});
  return pattern;
}

}  // namespace

void measure_calls(Calibration& calibration) {
  calibration.progress("calls");
  if (!calibration.provenance.warning.empty())
    return calibration.not_measured("operations.batch_s, batch_once_s, discovery_s: " + calibration.provenance.warning);
  const auto& layout = calibration.layout;
  ExchangeTrials trials(calibration);
  const std::string planned = "planned", once = "called once", sparse = "sparse", direct = "standard";
  for (const Bytes bytes : {8, 64, 256}) {  // small, so that the calls dominate
    const auto pattern = make_ring_pattern(layout.ranks(), bytes);
    trials.add_planned(planned, pattern, {direct});
    trials.add_called_once(once, pattern, direct, [&layout, direct, pattern](const Machine& machine) {
      const auto strategy = parse_strategy(direct);
      const auto schedule = make_schedule(*make_route(strategy, layout), strategy.window, pattern);
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

double beside_others(MPI_Comm comm, const std::function<void()>& work) {
  const OtherPrograms others(comm);
  work();
  double most = others.processors();
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, comm);
  return most;
}

}  // namespace commpass
