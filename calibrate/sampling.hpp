// How often a thing is timed: in shuffled rounds, until its time is known or there is no more time for it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "calibrate/fit/fit.hpp"
#include "model/base/error.hpp"
#include "model/base/types.hpp"

namespace commpass {

/// All samples of one thing that is timed.
struct Series {
  std::vector<double> samples;
  int repetitions = 1;  ///< in each sample

  /// Their lower quartile.
  double time() const { return lower_quartile(samples); }
  /// That is known to 3 %.
  bool settled() const;
};

/// A number in [0, 1), the same with every standard library.
inline double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// The budget is over, on all ranks alike: a part of the measurement is left out.
class NoTimeLeft : public Error {
 public:
  NoTimeLeft() : Error("calibrate: no time is left of the budget; use a larger --budget.") {}
};

/// Takes samples within a budget. All functions are collective, and decide the same on every rank; what they are given
/// to time has to return the same on every rank, too. Decisions are by rank 0's clock, which counts all that a sample
/// takes: on a busy machine that is far more than the lower quartile which the sample gives.
class Sampler {
 public:
  Sampler(MPI_Comm comm, Seconds budget_s);

  /// From now on nothing is timed, and NoTimeLeft thrown, beyond the budget and a tenth of it and a second.
  void end_with_budget() { ends_with_budget_ = true; }
  /// Agrees on the time. @throws NoTimeLeft
  void look() { agree_on(0); }
  /// Is the measurement so far behind a share of the budget that one sample of each series must do? As of the last
  /// sample or look; local.
  bool is_late(double share) const {
    constexpr double late_ratio = 0.05;
    constexpr Seconds late_s = 0.5;  // budgets of a second have time for three rounds, too
    return now_s_ >= (share + late_ratio) * budget_s_ + late_s;
  }

  Seconds elapsed() const { return MPI_Wtime() - begin_; }
  /// The fraction of the budget that is spent, on this rank's clock.
  double spent() const { return elapsed() / budget_s_; }
  /// The same on all ranks, as of the last sample or look: shares that are made of it must not differ.
  double agreed_spent() const { return now_s_ / budget_s_; }
  /// Has this share of the budget been spent? Rank 0's clock decides for all.
  bool has_spent(double share) const;

  /// Of a series that has no samples: are its first repetitions left out, and their number found?
  enum class Start { cold, warm };

  /// Adds a sample; the first one finds how many repetitions make a sample long enough for the clock, and not too long
  /// for the budget.
  /// @param time  called with a number of repetitions, gives the seconds of one
  template <class Time>
  void sample(Series& series, Time time, Start start = Start::warm) {
    constexpr Seconds longest_sample_s = 0.02;
    if (series.samples.empty() && start == Start::warm) {
      constexpr Seconds sample_s = 1e-4;
      constexpr int most = 200;
      time(1);  // warm-up: first use of a path is slow
      const double begin = MPI_Wtime();
      const Seconds once = std::max(time(2), 1e-9);
      const Seconds all_s = std::max(agree_on(MPI_Wtime() - begin) / 2, 1e-9);
      series.repetitions = static_cast<int>(
          std::clamp(std::min(sample_s / once, longest_sample_s / all_s), 1.0, static_cast<double>(most)));
    }
    const double begin = MPI_Wtime();
    series.samples.push_back(time(series.repetitions));
    ++count_;
    const Seconds all_s = agree_on(MPI_Wtime() - begin);
    if (all_s > longest_sample_s)
      series.repetitions = std::max(1, static_cast<int>(series.repetitions * longest_sample_s / all_s));
  }

  /// Samples all series, at least three times, until each is settled or the share of the budget is spent; once where
  /// the measurement is late.
  /// @param share        the same on every rank
  /// @param time         called with key, round and repetitions, gives the seconds of one repetition
  /// @param most_rounds  after which what differs from time to time by itself need not settle
  template <class Key, class Time>
  void sample_all(std::map<Key, Series>& all, double share, Time time,
                  int most_rounds = std::numeric_limits<int>::max()) {
    std::vector<Key> keys;
    for (const auto& [key, series] : all) keys.push_back(key);
    constexpr int least_rounds = 3;
    std::size_t forgotten = 0;
    for (int round = 0; round == 0 || round >= least_rounds || !is_late(share); ++round) {
      std::shuffle(keys.begin(), keys.end(), random_);
      bool all_settled = true;
      std::vector<Series*> sampled;
      for (const auto& key : keys) {
        auto& series = all.at(key);
        if (series.settled()) continue;
        all_settled = false;
        sample(
            series, [&](int repetitions) { return time(key, round, repetitions); },
            is_late(share) ? Start::cold : Start::warm);
        sampled.push_back(&series);
        if (round >= least_rounds ? now_s_ >= share * budget_s_ : round > 0 && is_late(share)) return;
      }
      if (all_settled || round + 1 >= most_rounds) return;
      if (round >= least_rounds) forget_if_disturbed(sampled, forgotten);
    }
  }

  std::int64_t count() const { return count_; }
  /// Rounds in which something else was running, and whose samples were taken again.
  std::int64_t disturbed_rounds() const { return disturbed_rounds_; }

 private:
  /// Takes back the last samples of the series if most of them are far longer than those before.
  /// @param forgotten  how often that was done; not more often than samples are kept
  void forget_if_disturbed(const std::vector<Series*>& sampled, std::size_t& forgotten);

  /// Of rank 0, with the time. @throws NoTimeLeft
  Seconds agree_on(Seconds seconds);

  MPI_Comm comm_;
  double begin_;
  Seconds budget_s_, now_s_ = 0;
  bool ends_with_budget_ = false;
  std::mt19937_64 random_{1};
  std::int64_t count_ = 0, disturbed_rounds_ = 0;
};

}  // namespace commpass
