#include "selector/choose/rivalry.hpp"

#include <algorithm>
#include <cmath>

#include "selector/choose/trial_budget.hpp"

namespace commpass {

void Rivalry::postpone(double calls) {
  constexpr double calls_max = 1e12;  // so that a sum of two is an integer
  constexpr std::int64_t calls_to_wait = 8;
  const auto wanted = static_cast<std::int64_t>(std::ceil(std::clamp(calls, 1.0, calls_max)));
  tries_at_ = calls_ + std::max(wanted, calls_ / calls_to_wait);
}

void Rivalry::add(Seconds library_s, Seconds ours_s, Seconds loss_s) {
  if (trials_.is_warm()) loss_s_ = loss_s;
  trials_.round()[library] = library_s;
  trials_.round()[ours] = ours_s;
  trials_.end_round();
  if (trials_.is_over()) close(trials_.ratio(ours), trials_.fastest() == ours);
}

void Rivalry::leave() {
  if (trials_.is_warm()) return close({0, 0, 0}, false);
  trials_.end_round();
}

void Rivalry::close(const MedianInterval& ratio, bool is_ours) {
  ratio_ = ratio;
  is_ours_ = is_ours;
  tries_at_ = calls_ * growth;
  trials_.restart();
}

Turns turns_of(double calls, const RivalTimes& times) {
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
    const auto wait = budget.calls_to_wait(rivalry.trial_loss_s(), turns.opening_s > 0,
                                           in_calls_s / std::max(done, 1.0), TrialBudget::default_share);
    if (wait > 0) {
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
