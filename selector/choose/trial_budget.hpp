// What trials of calls (Rivalry, TrialPace) may cost a process. No MPI here.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>

#include "model/base/types.hpp"

namespace commpass {

/// Trials may lose a share of the time in the calls that are taken over, and an allowance at once. Threads may use it
/// at the same time.
class TrialBudget {
 public:
  static constexpr Seconds allowance_s = 2e-3;  ///< of a process: a program of seconds does not notice it
  static constexpr double default_share = 0.01;

  explicit TrialBudget(Seconds at_once_s = allowance_s) : at_once_s_(at_once_s) {}

  void earn(Seconds in_call_s) { in_calls_s_.fetch_add(in_call_s, std::memory_order_relaxed); }
  void spend(Seconds loss_s) { lost_s_.fetch_add(loss_s, std::memory_order_relaxed); }
  /// The time that may still be lost; negative where one loss was larger than expected.
  Seconds credit_s(double share) const { return at_once_s_ + share * in_calls_s_ - lost_s_; }

  /// How many calls a trial has to wait until its loss is affordable; 0: none, infinite where nothing may be lost.
  /// @param loss_s     of the trial; 0: not known, taken for that of a call
  /// @param is_opened  engines are there; else opening them is part of the loss
  /// @param call_s     the mean time of a call
  double calls_to_wait(Seconds loss_s, bool is_opened, Seconds call_s, double share) const {
    constexpr Seconds call_min_s = 1e-9;
    call_s = std::max(call_s, call_min_s);
    const auto needed_s = (loss_s > 0 ? loss_s : call_s) + (is_opened ? 0 : opening_s());
    return share > 0 ? std::max((needed_s - credit_s(share)) / (share * call_s), 0.0)
                     : std::numeric_limits<double>::infinity();
  }

  /// How long opening engines takes, as measured last; before that an estimate for one node.
  Seconds opening_s() const { return opening_s_; }
  void note_opening(Seconds seconds) {
    opening_s_ = seconds;
    spend(seconds);
  }

 private:
  static constexpr Seconds first_opening_s = 20e-3;
  Seconds at_once_s_;
  std::atomic<Seconds> in_calls_s_ = 0, lost_s_ = 0, opening_s_ = first_opening_s;
};

}  // namespace commpass
