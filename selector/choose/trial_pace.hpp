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
///
/// Where calls begin whenever a rank likes, a late rank lengthens any of them, whichever contender runs. So a trial
/// costs the least time of its contender beyond that of a call.
class TrialPace {
 public:
  enum class Begin { together, anytime };

  static constexpr std::int64_t calls_before = 8;  ///< which are no trials: caches and MPI's buffers get warm
  static constexpr std::int64_t timed_calls = 2;   ///< of the incumbent, before the first round
  /// That of the trials.
  static constexpr TrialBounds bounds{.cut_ratio = 4};  // cold caches take up to 3 times as long
  static constexpr TrialBounds bounds_anytime{.cut_ratio = 4, .cut_rounds = 2};  // in one a rank may have been late

  /// @param incumbent      the contender that runs calls that are no trials
  /// @param preparation_s  expected extra time of the first round, which prepares contenders
  /// @param begin          of calls
  /// @param calls_ahead    of whose time trials may take a share before they come
  TrialPace(std::size_t contenders, std::size_t incumbent, Seconds preparation_s, Begin begin = Begin::together,
            std::int64_t calls_ahead = 0)
      : incumbent_(incumbent),
        preparation_s_(preparation_s),
        told_(contenders + 1),
        least_s_(contenders, std::numeric_limits<Seconds>::infinity()),
        begin_(begin),
        calls_(calls_ahead) {}

  /// Is it known what a call takes? Else the next trial is a call of the incumbent, and no part of a round.
  bool knows_call() const { return timed_calls_ == timed_calls; }
  std::size_t incumbent() const { return incumbent_; }
  /// The incumbent is another one from now on.
  void replace_incumbent(std::size_t contender) { incumbent_ = contender; }

  /// Adds time of this rank in trials, all included; where they begin anytime, beside that of their contenders.
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
  Seconds cost_s(std::size_t contender) const;
  Seconds elapsed_of_all_s() const { return -told_.back(); }

  TrialBudget budget_{0};
  std::size_t incumbent_;
  Seconds preparation_s_;
  std::vector<Seconds> told_;     // times of contenders, and the least elapsed time, negative: it is a maximum, too
  std::vector<Seconds> least_s_;  // of each contender
  Begin begin_;
  Seconds elapsed_s_ = 0, earned_s_ = 0;
  Seconds call_s_ = std::numeric_limits<Seconds>::infinity();
  Seconds telling_s_ = call_s_;  // extra time of a trial beside that of its contender
  std::int64_t timed_calls_ = 0, calls_, wait_ = calls_before;
};

}  // namespace commpass
