// Strategies are run in turn and timed: rank 0 judges, and all ranks do as it finds. Private to the runtime.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "selector/choose/measured_choice.hpp"

namespace commpass {

/// Times of strategies in rounds, in each of which each that may still be the fastest runs once. The first one is the
/// baseline: it runs in all rounds, and stays unless another one is faster beyond doubt. A round's time of a strategy
/// is that of the slowest rank.
class TimedRounds {
 public:
  static constexpr std::size_t least = 7;  ///< of an interval with 95 % at least 6 are needed

  /// Collective. @param most  rounds, after which the interval hardly shrinks @throws Error, the same on every rank
  TimedRounds(MPI_Comm comm, std::size_t strategies, std::size_t most);

  std::size_t strategies() const { return order_.size(); }
  bool is_running(std::size_t strategy) const { return is_running_[strategy] != 0; }
  std::size_t runners() const;
  /// The order of the round that comes, in which strategies that are not running are skipped: another one in each.
  std::span<const std::size_t> order() const { return order_; }

  /// This rank's time in this round.
  void note(std::size_t strategy, Seconds seconds) { mine_[strategy] = seconds; }
  /// Ends a round. Collective.
  void collect();

  // On rank 0:
  /// In the round that was collected last.
  Seconds slowest(std::size_t strategy) const { return slowest_[strategy]; }
  void drop(std::size_t strategy) { is_running_[strategy] = 0; }
  /// That round counts. Takes no memory.
  void keep();
  std::size_t rounds() const { return seconds_.front().size(); }
  /// Drops beaten candidates, now and then. @return can nothing more be found?
  bool review();
  /// All times of a strategy; none: it was not timed.
  const std::vector<Seconds>& times(std::size_t strategy) const { return seconds_[strategy]; }
  std::vector<MedianInterval> ratios() const { return ratios_to_first(seconds_); }

  /// Tells which candidates remain. Collective. @return the argument of rank 0
  bool tell(bool is_over);

 private:
  MPI_Comm comm_;
  Rank rank_;
  std::size_t most_, next_review_ = least;
  std::mt19937 random_{1};  // the same on every rank
  std::vector<std::size_t> order_;
  std::vector<double> mine_, slowest_;
  std::vector<char> is_running_;
  std::vector<std::vector<Seconds>> seconds_;  ///< on rank 0
};

/// For people: the timed strategies, and the fastest.
/// @param names     of the strategies
/// @param samples   what a round has of each, if anything is to be said of that
std::string explain_rounds(const TimedRounds& rounds, std::span<const std::string> names,
                           std::span<const MedianInterval> ratios, std::size_t chosen, const std::string& samples);

/// The endings of names that say how data on devices gets into messages: each that one of these strategies has once.
/// For data in host memory, and where no path has a price, the empty one.
std::vector<std::string> paths_of(std::span<const std::string> strategies);

}  // namespace commpass
