// What trials of calls (Rivalry) may cost a process. No MPI here.
#pragma once

#include <algorithm>
#include <atomic>

#include "model/base/types.hpp"

namespace commpass {

/// Trials may lose a share of the time in the calls that are taken over, and at once as much as a program of seconds
/// does not notice. Threads may use it at the same time.
class TrialBudget {
 public:
  static constexpr Seconds allowance_s = 2e-3;
  static constexpr double default_share = 0.01;

  void earn(Seconds in_call_s) { in_calls_s_.fetch_add(in_call_s, std::memory_order_relaxed); }
  void spend(Seconds loss_s) { lost_s_.fetch_add(loss_s, std::memory_order_relaxed); }
  /// What may still be lost; negative where one loss was larger than expected.
  Seconds credit_s(double share) const { return allowance_s + share * in_calls_s_ - lost_s_; }

  /// How long opening engines takes, as measured last; before that an estimate for one node.
  Seconds opening_s() const { return opening_s_; }
  void note_opening(Seconds seconds) {
    opening_s_ = seconds;
    spend(seconds);
  }

 private:
  static constexpr Seconds first_opening_s = 20e-3;
  std::atomic<Seconds> in_calls_s_ = 0, lost_s_ = 0, opening_s_ = first_opening_s;
};

}  // namespace commpass
