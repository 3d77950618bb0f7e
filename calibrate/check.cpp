// Does the profile predict exchanges that no parameter was fitted to? Where it does not, what is left of the budget
// goes.
#include <fmt/core.h>

#include "calibrate/calibration.hpp"
#include "calibrate/fit/verdict.hpp"
#include "calibrate/held_out.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

/// Takes away what is said of the receivers of a level, and of what could not be measured of its further messages.
void forget_further_messages(Calibration& calibration, Level level) {
  const auto place = calibration.host_key(level, "");
  std::erase_if(calibration.provenance.not_measured, [&](const std::string& what) {
    return what.starts_with(place) &&
           (what.find(": alpha_next_s") != std::string::npos || what.find(": alpha_receive_s") != std::string::npos);
  });
  for (auto& protocol : calibration.channel(level).protocols) {
    protocol.alpha_receive_s.reset();
    protocol.beta_receive_s_per_byte.reset();
  }
}

/// Measures again what further messages cost on the level that explains most of the error, and keeps of both results
/// the one that predicts better.
void measure_again(Calibration& calibration, ExchangeTrials& trials) {
  constexpr double well = 0.15, percent = 100;
  const double before = middle_miss(trials.results()), spent = calibration.sampler.agreed_spent();
  if (before <= well || calibration.sampler.has_spent(1)) return;
  int place = static_cast<int>(trials.where_most_is_missed());
  COMMPASS_MPI_CALL(MPI_Bcast, &place, 1, MPI_INT, 0, calibration.comm.get());
  const auto level = static_cast<Level>(place);
  calibration.progress(
      fmt::format("held-out exchanges are off by {:.1f} %: measuring further messages of levels.{}.host again",
                  percent * before, calibration.name_of(level)));
  const auto found = calibration.machine;
  const auto not_measured = calibration.provenance.not_measured;
  forget_further_messages(calibration, level);
  const Share rest{spent, 1};
  bool is_better = false;
  double after = before;
  try {
    measure_bursts(calibration, level, {rest.begin, rest.middle()});
    measure_receiving(calibration, level, {rest.middle(), rest.end});
    trials.price_again();
    after = middle_miss(trials.results());
    is_better = after < before;
  } catch (const NoTimeLeft&) {  // the first is kept
  }
  if (!is_better) {
    calibration.machine = found;
    calibration.provenance.not_measured = not_measured;
    trials.price_again();
  }
  calibration.provenance.measured_again = fmt::format(
      "further messages of levels.{}.host, since held-out exchanges were off by {:.1f} %: {:.1f} % with what was "
      "found then, {}",
      calibration.name_of(level), percent * before, percent * after,
      is_better ? "which was taken" : "so the first was kept");
}

}  // namespace

void check_held_out(Calibration& calibration) {
  calibration.progress("held-out exchanges");
  if (!calibration.provenance.warning.empty()) {
    calibration.not_measured("held_out: " + calibration.provenance.warning);
    return;
  }
  ExchangeTrials trials(calibration);
  add_held_out(calibration, trials);
  trials.price_again();
  trials.time(held_out_share.end);
  measure_again(calibration, trials);
  calibration.provenance.held_out = trials.results();
}

}  // namespace commpass
