// Who runs the calls of a kind: the MPI library or Commpass, by trials now and then. No MPI here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "model/base/types.hpp"
#include "selector/choose/trial_timer.hpp"

namespace commpass {

/// Of the calls of one kind on one communicator: the MPI library runs the first ones, since there may be no more of
/// them. Trials follow, calls that run both ways, as the loss of each is affordable (TrialBudget). Our way then runs
/// all calls if it is faster beyond doubt (TrialTimer), else the library does. Sizes may change, so that there are
/// trials again after eight times as many calls. There are none while the library's call is what our way would run.
///
/// Every rank asks and tells the same, so all decide alike.
class Rivalry {
 public:
  enum class Turn { library, ours, both };

  static constexpr std::int64_t calls_before = 2;  ///< on a communicator of which nothing else is known
  static constexpr int pairs = 10;  ///< of times that decide; even, as either is the first one in half of them
  static constexpr int growth = 8;  ///< between one decision and the next

  Rivalry() : Rivalry(calls_before) {}
  /// @param first_calls  of the library before the first trial
  explicit Rivalry(std::int64_t first_calls) : tries_at_(first_calls) {}

  /// Who runs the next call; `both`: a trial is due, and is run or postponed. To be asked once for each call.
  Turn next() { return calls_++ < tries_at_ ? decided() : Turn::both; }
  /// Who runs a call that is no trial.
  Turn decided() const { return is_ours_ ? Turn::ours : Turn::library; }
  /// Of a trial, which runs either once, ours first where that plans: does the library run next?
  bool is_library_next() const { return trials_.next() == library; }
  /// Notes this rank's time of the next one. @return have both run?
  bool note(Seconds seconds) { return trials_.note(seconds); }
  bool is_within_trial() const { return trials_.is_within_round(); }
  /// This rank's times in the trial.
  Seconds library_s() { return trials_.round()[library]; }
  Seconds ours_s() { return trials_.round()[ours]; }
  /// The trial that is due has to wait: some calls, and at least an eighth of those that there were.
  void postpone(double calls);
  /// Of a trial: the seconds of its slowest rank, in either way, and how much longer it took than the library's call.
  /// The first one of a row is not counted: it plans.
  void add(Seconds library_s, Seconds ours_s, Seconds loss_s);
  /// The trial does not count, and is made anew.
  void repeat() { trials_.repeat_round(); }
  /// Our way would run the library's call, so that there was nothing to compare. Sizes may not be known before the
  /// first call of a row, so that the second one ends it.
  void leave();

  /// Of ours ÷ the library's when it was decided last; of no decision by times the median is 0.
  const MedianInterval& ratio() const { return ratio_; }
  /// What the next trial is expected to lose; 0: not known.
  Seconds trial_loss_s() const { return loss_s_; }
  std::int64_t calls() const { return calls_; }
  /// How many calls come before the next trial.
  std::int64_t calls_to_trial() const { return std::max(tries_at_ - calls_, std::int64_t{0}); }
  /// As many times next(). @param calls  at most calls_to_trial()
  void pass(std::int64_t calls) { calls_ += calls; }

 private:
  static constexpr std::size_t library = 0, ours = 1;  // contenders

  void close(const MedianInterval& ratio, bool is_ours);

  std::int64_t calls_ = 0, tries_at_;
  bool is_ours_ = false;
  MedianInterval ratio_ = {0, 0, 0};
  Seconds loss_s_ = 0;
  TrialTimer trials_{2, {.rounds_min = pairs, .rounds_max = pairs}};
};

/// How many calls of one kind on one communicator each of them runs; not whole where calls are an average.
struct Turns {
  double library = 0, ours = 0, both = 0;
  Seconds opening_s = 0;  ///< for the first trial; 0: there is none
};

/// What a call takes by either, and what ranks need to agree on a trial beside it.
struct RivalTimes {
  Seconds library_s, ours_s, agreement_s;
};

/// The turns of a Rivalry whose calls are all alike, with a TrialBudget of its own. @param calls  0 or more
Turns turns_of(double calls, const RivalTimes& times);

}  // namespace commpass
