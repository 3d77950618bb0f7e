#include "selector/choose/rivalry_turns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "selector/choose/rivalry.hpp"
#include "selector/choose/trial_budget.hpp"

namespace commpass {

Turns turns_of(double calls, const RivalTimes& times) {
  constexpr Seconds nothing_s = 1e-9;
  Rivalry rivalry;
  TrialBudget budget;
  Turns turns;
  double done = 0;
  Seconds in_calls_s = 0;
  const auto run_decided = [&](double count) {
    const bool is_ours = rivalry.decided() == Rivalry::Turn::ours;
    (is_ours ? turns.ours : turns.library) += count;
    const auto seconds = count * (is_ours ? times.ours_s : times.library_s);
    budget.earn(seconds);
    in_calls_s += seconds;
    done += count;
  };
  while (done < calls) {
    const double left = calls - done;
    if (const auto before = static_cast<double>(rivalry.calls_to_trial()); before > 0) {
      const auto count = std::min(before, std::ceil(left));
      rivalry.pass(static_cast<std::int64_t>(count));
      run_decided(std::min(count, left));
      continue;
    }
    rivalry.next();
    const auto count = std::min(1.0, left);
    const auto call_s = std::max(in_calls_s / std::max(done, 1.0), nothing_s);
    const auto loss_s =
        (rivalry.trial_loss_s() > 0 ? rivalry.trial_loss_s() : call_s) + (turns.opening_s > 0 ? 0 : budget.opening_s());
    constexpr auto share = TrialBudget::default_share;
    if (const auto wait = (loss_s - budget.credit_s(share)) / (share * call_s); wait > 0) {
      rivalry.postpone(wait);
      run_decided(count);
      continue;
    }
    if (turns.opening_s == 0) {
      turns.opening_s = budget.opening_s();
      budget.note_opening(turns.opening_s);
    }
    const auto lost_s = times.ours_s + times.agreement_s;
    budget.spend(lost_s);
    rivalry.add(times.library_s, times.ours_s, lost_s);
    budget.earn(times.library_s + lost_s);
    in_calls_s += times.library_s + lost_s;
    turns.both += count;
    done += count;
  }
  return turns;
}

}  // namespace commpass
