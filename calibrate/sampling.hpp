// Samples times in shuffled rounds, until they are settled or their share of the budget is spent.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "calibrate/fit/fit.hpp"
#include "model/base/error.hpp"
#include "model/base/types.hpp"

namespace commpass {

/// Do two times of the same differ by less than a part of them? Where clocks are exact and nothing interferes, as in a
/// simulation, more of them tell nothing.
inline bool is_within(double part, Seconds one, Seconds other) { return std::abs(other - one) <= part * one; }

/// The samples of one measured time.
struct Series {
  std::vector<double> samples;
  int repetitions = 1;  ///< in each sample

  double time() const { return lower_quartile(samples); }
  /// The interval of the time is within 3 %, or all of at least three samples within 0.3 %.
  bool settled() const;
};

/// Times by size, for fits.
std::vector<SizePoint> points_of(const std::map<Bytes, Series>& times);

/// The median over the ranks that have a time. Collective.
Seconds median_over_ranks(MPI_Comm comm, std::optional<Seconds> mine);

/// A number in [0, 1), the same with every standard library.
inline double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// The budget is spent, on all ranks alike. A part of the measurement is left out.
class NoTimeLeft : public Error {
 public:
  NoTimeLeft() : Error("calibrate: no time is left of the budget; use a larger --budget.") {}
};

/// Takes samples within a budget. All functions are collective and decide alike on every rank. Functions to time must
/// return the same on every rank. Rank 0's clock decides: it includes waiting for processors, which the lower quartile
/// of a sample leaves out.
class Sampler {
 public:
  Sampler(MPI_Comm comm, Seconds budget_s);

  /// From now on, throws NoTimeLeft beyond 110 % of the budget and a second.
  void end_with_budget() { ends_with_budget_ = true; }
  /// Agrees on the elapsed time. @throws NoTimeLeft
  void check_time() { agree_on(0); }
  /// Is the measurement so late for a share of the budget that each series gets one sample only? As of the last sample
  /// or check_time; local.
  bool is_late(double share) const {
    constexpr double late_ratio = 0.05;
    constexpr Seconds late_s = 0.5;  // so that a budget of a second has time for three rounds
    return now_s_ >= (share + late_ratio) * budget_s_ + late_s;
  }

  Seconds elapsed() const { return MPI_Wtime() - begin_; }
  /// The spent fraction of the budget, by this rank's clock.
  double spent() const { return elapsed() / budget_s_; }
  /// The same on all ranks, as of the last sample or check_time; for shares, which must not differ.
  double agreed_spent() const { return now_s_ / budget_s_; }
  /// Has rank 0 spent this share of the budget?
  bool has_spent(double share) const;

  /// Does a series without samples run a warm-up, and find its number of repetitions?
  enum class Start { cold, warm };

  /// Adds a sample. The first one finds a number of repetitions, long enough for the clock and short enough for the
  /// budget.
  /// @param time  called with a number of repetitions, returns the seconds of one
  template <class Time>
  void sample(Series& series, Time time, Start start = Start::warm) {
    constexpr Seconds longest_sample_s = 0.02;
    if (series.samples.empty() && start == Start::warm) {
      constexpr Seconds sample_s = 1e-4;
      constexpr double repetitions_max = 200, same = 1e-3;
      constexpr int few = 2, more = 12;  // more than ten, as a ping-pong then sends several messages at a time
      time(1);                           // warm-up: the first use of a path is slow
      const double begin = MPI_Wtime();
      const Seconds once = std::max(time(few), 1e-9);
      const Seconds all_s = std::max(agree_on(MPI_Wtime() - begin) / few, 1e-9);
      const auto most = std::clamp(std::min(sample_s / once, longest_sample_s / all_s), 1.0, repetitions_max);
      series.repetitions = static_cast<int>(most);
      if (series.repetitions > more && is_within(same, once, time(more))) series.repetitions = few;
    }
    const double begin = MPI_Wtime();
    series.samples.push_back(time(series.repetitions));
    ++count_;
    const Seconds all_s = agree_on(MPI_Wtime() - begin);
    if (all_s > longest_sample_s)
      series.repetitions = std::max(1, static_cast<int>(series.repetitions * longest_sample_s / all_s));
  }

  /// Samples all series at least three times, until each is settled or the share of the budget is spent. A late
  /// measurement samples once.
  /// @param share       the same on every rank
  /// @param time        called with key, round and repetitions, returns the seconds of one repetition
  /// @param rounds_max  for times that vary by nature and never settle
  template <class Key, class Time>
  void sample_all(std::map<Key, Series>& all, double share, Time time,
                  int rounds_max = std::numeric_limits<int>::max()) {
    std::vector<Key> keys;
    for (const auto& [key, series] : all) keys.push_back(key);
    constexpr int rounds_min = 3;
    std::size_t forgotten = 0;
    for (int round = 0; round == 0 || round >= rounds_min || !is_late(share); ++round) {
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
        if (round >= rounds_min ? now_s_ >= share * budget_s_ : round > 0 && is_late(share)) return;
      }
      if (all_settled || round + 1 >= rounds_max) return;
      if (round >= rounds_min) forget_if_disturbed(sampled, forgotten);
    }
  }

  /// Samples one series as sample_all does.
  /// @param time  called with repetitions
  /// @return its time
  template <class Time>
  Seconds sample_one(double share, Time time) {
    std::map<int, Series> one{{0, {}}};
    sample_all(one, share, [&](int, int, int repetitions) { return time(repetitions); });
    return one.at(0).time();
  }

  std::int64_t count() const { return count_; }
  /// Rounds with interference, whose samples were taken again.
  std::int64_t disturbed_rounds() const { return disturbed_rounds_; }

 private:
  /// Removes the last samples of the series if their median is far above earlier samples.
  /// @param forgotten  number of such rounds, at most that of kept samples
  void forget_if_disturbed(const std::vector<Series*>& sampled, std::size_t& forgotten);

  /// Rank 0's seconds; also agrees on the elapsed time. @throws NoTimeLeft
  Seconds agree_on(Seconds seconds);

  MPI_Comm comm_;
  double begin_;
  Seconds budget_s_, now_s_ = 0;
  bool ends_with_budget_ = false;
  std::mt19937_64 random_{1};
  std::int64_t count_ = 0, disturbed_rounds_ = 0;
};

}  // namespace commpass
