// Strategies of exchanges that are called once and recur are tried in the calls themselves. Private to the runtime.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/choose/one_shot_choice.hpp"
#include "runtime/choose/timed_rounds.hpp"

namespace commpass {

/// Returns on all ranks at about the same time, and makes progress on exchanges in flight meanwhile. Collective.
void begin_together(MPI_Comm comm);

/// One call after the other runs a strategy that may be the fastest of calls like these, each begun by all ranks
/// together: a round after which no time counts, in which what strategies need is made, and then rounds until one is
/// the fastest beyond doubt, the time is lost, or there were 50.
class OneShotTrials {
 public:
  /// Collective.
  /// @param contenders  the same on every rank, at least one; the first one stays unless another is faster beyond doubt
  /// @param budget      the time that may be lost: by how much those that were not the fastest of their round took
  /// longer. A contender that
  ///                    would lose more in the fewest rounds that tell anything, runs once; but for the first one,
  ///                    which programs run anyway
  /// @throws Error, the same on every rank
  OneShotTrials(MPI_Comm comm, std::vector<OneShotChoice> contenders, Seconds budget);

  /// What the next call runs.
  const OneShotChoice& next() const { return contenders_[rounds_.order()[place_]]; }
  bool is_over() const { return is_over_; }
  /// When it is over: takes the result out of this object.
  OneShotChoice take() { return std::move(contenders_[chosen_]); }
  /// That call has taken this rank so long. Collective at the end of a round. Takes no memory but on rank 0, which does
  /// without. @throws MpiError
  void add(Seconds seconds);
  /// What the next call runs cannot be run, as all ranks have found: it is out; without the first one, it is over and
  /// nothing is found. Collective at the end of a round. @return is there something left to time? @throws MpiError
  bool drop();
  /// When it is over, on rank 0: the timed strategies, for people.
  const std::string& explanation() const { return explanation_; }

 private:
  void advance();
  bool judge();
  Seconds fastest_of_round() const;
  void drop_costliest();
  void conclude();
  std::size_t find_fastest();

  MPI_Comm comm_;
  std::vector<OneShotChoice> contenders_;
  Seconds budget_, lost_ = 0;
  TimedRounds rounds_;
  std::size_t place_ = 0, chosen_ = 0;
  bool is_warm_ = false, is_over_ = false;
  std::string explanation_;
};

}  // namespace commpass
