// The one timer of trials: the contender that runs next, the end of the trials, and what their times prove. No MPI
// here.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "selector/choose/median_interval.hpp"
#include "selector/choose/planner_mode.hpp"

namespace commpass {

/// How long exchanges are timed for one plan, unless told.
Seconds default_planner_seconds(PlannerMode mode);
/// @throws InputError unless it is a number of seconds above 0
void check_planner_seconds(Seconds seconds);

/// How many strategies are timed, besides what programs do without Commpass.
std::size_t most_timed(PlannerMode mode);

/// What a trial loses: all of its time; or, where the program waits for its exchange anyway, the time beyond that of
/// the fastest contender of its round.
enum class TrialLoss { whole, beyond_fastest };

struct TrialBounds {
  std::size_t warm_rounds = 1;  ///< in which contenders make what they need; their times do not count
  std::size_t rounds_min = 7;   ///< of an interval with 95 % at least 6 are needed
  std::size_t rounds_max = 50;  ///< after which the interval hardly shrinks
  Seconds loss_max_s = std::numeric_limits<Seconds>::infinity();
  TrialLoss loss = TrialLoss::beyond_fastest;
  double cut_ratio = std::numeric_limits<double>::infinity();  ///< a slower contender ÷ the fastest of a round is cut
  std::size_t cut_rounds = 1;                                  ///< rounds in a row after which it is cut
  Seconds sample_s = 0;  ///< a sample has as many exchanges as the first contender runs in that time; 0: one
};

/// Contenders run in rounds, each once in a round, in another order each time: of two each is the first one equally
/// often, the baseline not at first. The first contender is the baseline: it runs in all rounds, and stays unless
/// another one is faster beyond doubt (the interval of the ratio of their times lies below 1).
///
/// After the warm rounds the slowest of the others are dropped until `rounds_min` rounds lose no more than
/// `loss_max_s`. Later a contender is dropped if another one is faster beyond doubt. A contender that
/// takes more than `cut_ratio` times as long as the fastest in `cut_rounds` rounds in a row, warm ones included, is
/// dropped at once. The trials are over if nothing more can be found, after `rounds_max` rounds, or as soon as more
/// than `loss_max_s` is lost.
///
/// The time of a contender in a round is that of the slowest rank. All ranks give the same times, and so judge alike.
/// Takes memory in its constructor alone.
class TrialTimer {
 public:
  explicit TrialTimer(std::size_t contenders, const TrialBounds& bounds = {});

  std::size_t contenders() const { return order_.size(); }
  /// The contender that runs next.
  std::size_t next() const { return order_[place_]; }
  /// The number of exchanges of a sample, whose mean is noted.
  int exchanges() const { return exchanges_; }

  /// Notes this rank's time of the next contender. @return is that the end of the round?
  bool note(Seconds seconds);
  /// The next contender cannot run, as all ranks have found; it is not the baseline. @return is that the end of the
  /// round?
  bool drop_next();
  /// This rank's times in the round, by contender, which the caller replaces by those of the slowest rank.
  std::span<Seconds> round() { return round_; }
  /// Has the round begun?
  bool is_within_round() const { return place_ > 0; }
  /// Counts these times, and begins the next round.
  void end_round();
  /// Counts nothing of the round, and begins it anew.
  void repeat_round();
  /// Begins anew, with all contenders.
  void restart();

  bool is_warm() const { return warm_rounds_ == bounds_.warm_rounds; }
  bool is_over() const { return is_over_; }
  /// Was it not dropped?
  bool is_running(std::size_t contender) const { return is_running_[contender] != 0; }
  std::size_t rounds() const { return rounds_; }  ///< that count
  /// Of the rounds that count, from the first one on; none: the contender was not timed.
  std::span<const Seconds> times(std::size_t contender) const;
  /// Its median; nothing if the contender was not timed.
  std::optional<Seconds> median_s(std::size_t contender);
  /// The time of a contender ÷ that of the baseline. Of one that was not timed nothing is known.
  MedianInterval ratio(std::size_t contender);
  /// The contender to run: of those that are faster than the baseline beyond doubt, and were not dropped, the one with
  /// the least median; else the baseline.
  std::size_t fastest();

 private:
  bool skip_dropped();
  std::size_t runners() const;
  void drop(std::size_t contender) { is_running_[contender] = 0; }
  Seconds fastest_s() const;
  Seconds loss_s(std::size_t contender, Seconds fastest_s) const;
  void choose_sample();
  void cut();
  void drop_slowest();
  void drop_beaten();

  TrialBounds bounds_;
  std::minstd_rand random_;  // the same on every rank
  std::vector<std::size_t> order_;
  std::vector<Seconds> round_;
  std::vector<char> is_running_;
  std::vector<std::size_t> counted_;  // of each contender
  std::vector<std::size_t> slow_;     // rounds in a row in which it was slower than `cut_ratio` allows
  std::vector<Seconds> times_;        // `rounds_max` of each contender
  std::vector<double> scratch_;
  std::size_t place_ = 0, warm_rounds_ = 0, rounds_ = 0, next_review_ = 0;
  Seconds lost_s_ = 0;
  int exchanges_ = 1;
  bool is_over_ = false;
};

/// For people: the timed strategies, and the fastest.
/// @param names   of the contenders
/// @param sample  what a round has of each, if anything is to be said of that
std::string explain(TrialTimer& trials, std::span<const std::string> names, const std::string& sample = "");

}  // namespace commpass
