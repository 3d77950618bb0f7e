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
#include "model/types.hpp"

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

/// Takes samples within a budget. All functions are collective, and decide the same on every rank; what they are given
/// to time has to return the same on every rank, too.
class Sampler {
 public:
  Sampler(MPI_Comm comm, Seconds budget_s);

  Seconds elapsed() const { return MPI_Wtime() - begin_; }
  /// The fraction of the budget that is spent, on this rank's clock.
  double spent() const { return elapsed() / budget_s_; }
  /// Has this share of the budget been spent? Rank 0's clock decides for all.
  bool has_spent(double share) const;

  /// Adds a sample; the first one finds how many repetitions make a sample long enough for the clock.
  /// @param time  called with a number of repetitions, gives the seconds of one
  template <class Time>
  void sample(Series& series, Time time) {
    if (series.samples.empty()) {
      constexpr Seconds sample_s = 1e-4;
      constexpr int most = 200;
      time(1);  // warm-up: first use of a path is slow
      const Seconds once = std::max(time(2), 1e-9);
      series.repetitions = static_cast<int>(std::clamp(sample_s / once, 1.0, static_cast<double>(most)));
    }
    series.samples.push_back(time(series.repetitions));
    ++count_;
  }

  /// Samples all series, at least three times, until each is settled or the share of the budget is spent.
  /// @param time         called with key, round and repetitions, gives the seconds of one repetition
  /// @param most_rounds  after which what differs from time to time by itself need not settle
  template <class Key, class Time>
  void sample_all(std::map<Key, Series>& all, double share, Time time,
                  int most_rounds = std::numeric_limits<int>::max()) {
    std::vector<Key> keys;
    for (const auto& [key, series] : all) keys.push_back(key);
    constexpr int least_rounds = 3;
    std::size_t forgotten = 0;
    for (int round = 0;; ++round) {
      std::shuffle(keys.begin(), keys.end(), random_);
      bool all_settled = true;
      std::vector<Series*> sampled;
      for (const auto& key : keys) {
        auto& series = all.at(key);
        if (series.settled()) continue;
        all_settled = false;
        sample(series, [&](int repetitions) { return time(key, round, repetitions); });
        sampled.push_back(&series);
        if (round >= least_rounds && has_spent(share)) return;
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

  MPI_Comm comm_;
  double begin_;
  Seconds budget_s_;
  std::mt19937_64 random_{1};
  std::int64_t count_ = 0, disturbed_rounds_ = 0;
};

}  // namespace commpass
