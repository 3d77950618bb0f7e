// When rounds of trials come about in calls that recur, so that they take a share of the time of these. No MPI here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "model/base/types.hpp"
#include "selector/choose/trial_budget.hpp"
#include "selector/choose/trial_timer.hpp"

namespace commpass {

/// Of the calls of one class: a round of trials (TrialTimer) begins as soon as its extra time, beyond that of as many
/// calls of the incumbent, is a share of the time of all calls so far (TrialBudget without an allowance). All extra
/// time counts: of slower contenders, of preparing them, and of what ranks tell each other. Two calls of the incumbent
/// before the first round tell what a call takes, and that round, in which each contender is expected to take two
/// calls, what contenders take. What they take beyond that is not bounded, but bounds later rounds.
///
/// A call counts with the least time that a trial of the incumbent has taken. Every rank tells the same, and so waits
/// alike.
class TrialPace {
 public:
  static constexpr std::int64_t calls_before = 8;  ///< which are no trials: caches and MPI's buffers get warm
  static constexpr std::int64_t timed_calls = 2;   ///< of the incumbent, before the first round
  /// That of the trials.
  static constexpr TrialBounds bounds{.cut_ratio = 4};  // cold caches take up to 3 times as long

  /// @param incumbent      the contender that runs calls that are no trials
  /// @param preparation_s  expected extra time of the first round, which prepares contenders
  /// @param at_once_s      extra time that needs no calls to pay for it
  TrialPace(std::size_t contenders, std::size_t incumbent, Seconds preparation_s, Seconds at_once_s = 0)
      : budget_(at_once_s), incumbent_(incumbent), preparation_s_(preparation_s), told_(contenders + 1) {}

  /// Is it known what a call takes? Else the next trial is a call of the incumbent, and no part of a round.
  bool knows_call() const { return timed_calls_ == timed_calls; }
  std::size_t incumbent() const { return incumbent_; }
  /// The incumbent is another one from now on.
  void replace_incumbent(std::size_t contender) { incumbent_ = contender; }

  /// Adds time of this rank in trials, all included.
  void add_elapsed(Seconds seconds) { elapsed_s_ += seconds; }
  /// What ranks tell each other at the end of a round, or of a call of the incumbent, to be replaced by the maxima.
  /// @param times  of this rank: of the contenders; or of that call
  std::span<Seconds> tell(std::span<const Seconds> times);
  /// After tell(), of a call of the incumbent. @return how many calls come before the next trial
  std::int64_t end_call();
  /// After tell(), of a round, which ends in the trials, too. @return how many calls come before the next round
  std::int64_t end_round(TrialTimer& trials);

 private:
  void earn(std::int64_t calls, Seconds call_s);
  std::int64_t wait_for(Seconds extra_s);
  Seconds elapsed_of_all_s() const { return -told_.back(); }

  TrialBudget budget_;
  std::size_t incumbent_;
  Seconds preparation_s_;
  std::vector<Seconds> told_;  // times of contenders, and the least elapsed time, negative: it is a maximum, too
  Seconds elapsed_s_ = 0, earned_s_ = 0;
  Seconds call_s_ = std::numeric_limits<Seconds>::infinity();
  Seconds telling_s_ = call_s_;  // extra time of a trial beside that of its contender
  std::int64_t timed_calls_ = 0, calls_ = 0, wait_ = calls_before;
};

}  // namespace commpass
