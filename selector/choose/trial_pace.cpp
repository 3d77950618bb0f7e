#include "selector/choose/trial_pace.hpp"

#include <algorithm>
#include <cmath>

namespace commpass {

std::span<Seconds> TrialPace::tell(std::span<const Seconds> times) {
  std::ranges::fill(told_, 0);
  std::ranges::copy(times, told_.begin());
  told_.back() = -elapsed_s_;  // the rank that waits least for others has the extra time alone
  elapsed_s_ = 0;
  return told_;
}

/// All calls so far, and these, take the least time of any.
void TrialPace::earn(std::int64_t calls, Seconds call_s) {
  calls_ += calls;
  call_s_ = std::min(call_s_, call_s);
  const auto all_s = static_cast<double>(calls_) * call_s_;
  budget_.earn(all_s - earned_s_);
  earned_s_ = all_s;
}

std::int64_t TrialPace::wait_for(Seconds extra_s) {
  constexpr bool is_opened = true;
  constexpr double calls_max = 1e12;  // so that a sum of two is an integer
  constexpr Seconds extra_min_s = 1e-9;
  const auto calls =
      budget_.calls_to_wait(std::max(extra_s, extra_min_s), is_opened, call_s_, TrialBudget::default_share);
  wait_ = static_cast<std::int64_t>(std::ceil(std::min(calls, calls_max)));
  return wait_;
}

std::int64_t TrialPace::end_call() {
  const auto call_s = told_.front();
  const auto of_call_s = begin_ == Begin::together ? call_s : 0;
  telling_s_ = std::min(telling_s_, std::max(elapsed_of_all_s() - of_call_s, 0.0));
  earn(wait_ + 1, call_s);
  wait_ = 0;
  if (++timed_calls_ < timed_calls) return 0;
  // The times of contenders are not known, and taken for two calls.
  return wait_for(preparation_s_ + static_cast<double>(told_.size() - 1) * (telling_s_ + call_s_));
}

/// Of a trial in this round; 0 if there was none.
Seconds TrialPace::cost_s(std::size_t contender) const {
  return begin_ == Begin::anytime ? std::min(told_[contender], least_s_[contender]) : told_[contender];
}

std::int64_t TrialPace::end_round(TrialTimer& trials) {
  const auto times = std::span(told_).first(told_.size() - 1);
  std::ranges::copy(times, trials.round().begin());
  Seconds sum_s = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] > 0) least_s_[i] = std::min(least_s_[i], times[i]);
    sum_s += cost_s(i);
    count += times[i] > 0 ? 1 : 0;
  }
  const auto elapsed_s = elapsed_of_all_s() + (begin_ == Begin::anytime ? sum_s : 0);
  if (trials.is_warm() && count > 0)
    telling_s_ = std::min(telling_s_, std::max(elapsed_s - sum_s, 0.0) / static_cast<double>(count));
  earn(wait_ + count, times[incumbent_] > 0 ? times[incumbent_] : call_s_);
  budget_.spend(std::max(elapsed_s - static_cast<double>(count) * call_s_, 0.0));
  trials.end_round();
  if (trials.is_over()) return 0;
  Seconds extra_s = 0;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (trials.is_running(i)) extra_s += telling_s_ + cost_s(i) - call_s_;
  return wait_for(extra_s);
}

}  // namespace commpass
