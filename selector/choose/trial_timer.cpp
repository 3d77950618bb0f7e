#include "selector/choose/trial_timer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/error.hpp"
#include "model/base/text.hpp"

namespace commpass {

Seconds default_planner_seconds(PlannerMode mode) {
  constexpr Seconds few_s = 0.1, all_s = 1;
  return mode == PlannerMode::patient ? all_s : few_s;
}

void check_planner_seconds(Seconds seconds) {
  if (!(seconds > 0) || !std::isfinite(seconds))
    throw InputError("planner_seconds", fmt::format("{} is no time to measure in", seconds),
                     "use a number of seconds above 0, or leave it out");
}

std::size_t most_timed(PlannerMode mode) {
  constexpr std::size_t few = 4;
  return mode == PlannerMode::estimate  ? 0
         : mode == PlannerMode::patient ? std::numeric_limits<std::size_t>::max()
                                        : few;
}

TrialTimer::TrialTimer(std::size_t contenders, const TrialBounds& bounds)
    : bounds_(bounds),
      order_(contenders),
      round_(contenders),
      is_running_(contenders),
      counted_(contenders),
      slow_(contenders),
      times_(contenders * bounds.rounds_max),
      scratch_(bounds.rounds_max) {
  restart();
}

void TrialTimer::restart() {
  random_.seed(1);
  std::iota(order_.rbegin(), order_.rend(), std::size_t{0});
  std::ranges::fill(is_running_, 1);
  std::ranges::fill(counted_, 0);
  std::ranges::fill(slow_, 0);
  warm_rounds_ = rounds_ = 0;
  next_review_ = bounds_.rounds_min;
  lost_s_ = 0;
  exchanges_ = 1;
  is_over_ = contenders() < 2;
  repeat_round();
}

/// @return is the round at its end?
bool TrialTimer::skip_dropped() {
  while (place_ < contenders() && is_running_[next()] == 0) ++place_;
  return place_ == contenders();
}

bool TrialTimer::note(Seconds seconds) {
  round_[next()] = seconds;
  ++place_;
  return skip_dropped();
}

bool TrialTimer::drop_next() {
  drop(next());
  return skip_dropped();
}

std::size_t TrialTimer::runners() const { return static_cast<std::size_t>(std::ranges::count(is_running_, 1)); }

Seconds TrialTimer::fastest_s() const {
  auto fastest = std::numeric_limits<Seconds>::infinity();
  for (std::size_t i = 0; i < contenders(); ++i)
    if (is_running_[i] != 0) fastest = std::min(fastest, round_[i]);
  return fastest;
}

Seconds TrialTimer::loss_s(std::size_t contender, Seconds fastest_s) const {
  return exchanges_ * (round_[contender] - (bounds_.loss == TrialLoss::whole ? 0 : fastest_s));
}

void TrialTimer::end_round() {
  cut();
  if (!is_warm()) {
    if (++warm_rounds_ == bounds_.warm_rounds) {
      choose_sample();
      drop_slowest();
    }
  } else {
    const auto fastest = fastest_s();
    for (std::size_t i = 0; i < contenders(); ++i) {
      if (is_running_[i] == 0) continue;
      lost_s_ += loss_s(i, fastest);
      times_[i * bounds_.rounds_max + counted_[i]++] = round_[i];
    }
    ++rounds_;
    drop_beaten();
    if (rounds_ >= bounds_.rounds_max || (rounds_ >= bounds_.rounds_min && lost_s_ > bounds_.loss_max_s))
      is_over_ = true;
  }
  if (runners() < 2) is_over_ = true;
  if (contenders() == 2) std::swap(order_.front(), order_.back());
  else std::ranges::shuffle(order_, random_);
  repeat_round();
}

void TrialTimer::repeat_round() {
  std::ranges::fill(round_, 0);
  place_ = 0;
  skip_dropped();
}

void TrialTimer::choose_sample() {
  constexpr double exchanges_max = 200;
  const auto wanted = bounds_.sample_s / std::max(round_[0], std::numeric_limits<Seconds>::min());
  exchanges_ = static_cast<int>(std::clamp(wanted, 1.0, exchanges_max));
}

/// The baseline stays.
void TrialTimer::cut() {
  const auto limit_s = bounds_.cut_ratio * fastest_s();
  for (std::size_t i = 1; i < contenders(); ++i)
    if (!(round_[i] > limit_s)) slow_[i] = 0;  // infinity × 0 is no limit either
    else if (++slow_[i] >= bounds_.cut_rounds) drop(i);
}

/// The baseline stays in any case.
void TrialTimer::drop_slowest() {
  const auto fastest = fastest_s();
  for (;;) {
    Seconds lost = bounds_.loss == TrialLoss::whole ? loss_s(0, fastest) : 0;
    std::size_t slowest = 0;
    for (std::size_t i = 1; i < contenders(); ++i) {
      if (is_running_[i] == 0) continue;
      lost += loss_s(i, fastest);
      if (slowest == 0 || round_[i] > round_[slowest]) slowest = i;
    }
    if (slowest == 0 || static_cast<double>(bounds_.rounds_min) * lost <= bounds_.loss_max_s) return;
    drop(slowest);
  }
}

/// Now and then: intervals take longer than a comparison.
void TrialTimer::drop_beaten() {
  if (rounds_ < next_review_) return;
  next_review_ = rounds_ * 3 / 2;
  double least_high = 1;
  for (std::size_t i = 1; i < contenders(); ++i) least_high = std::min(least_high, ratio(i).high);
  for (std::size_t i = 1; i < contenders(); ++i)
    if (ratio(i).low > least_high) drop(i);
  if (runners() == 2 && fastest() != 0) is_over_ = true;  // that one and the baseline
}

std::span<const Seconds> TrialTimer::times(std::size_t contender) const {
  return std::span(times_).subspan(contender * bounds_.rounds_max, counted_[contender]);
}

std::optional<Seconds> TrialTimer::median_s(std::size_t contender) {
  const auto own = times(contender);
  if (own.empty()) return {};
  const auto sorted = std::span(scratch_).first(own.size());
  std::ranges::copy(own, sorted.begin());
  return sort_to_median_interval(sorted).median;
}

MedianInterval TrialTimer::ratio(std::size_t contender) {
  const auto own = times(contender), base = times(0);
  std::size_t count = 0;
  for (std::size_t round = 0; round < own.size(); ++round)
    if (base[round] > 0) scratch_[count++] = own[round] / base[round];
  return count == 0 ? MedianInterval{} : sort_to_median_interval(std::span(scratch_).first(count));
}

std::size_t TrialTimer::fastest() {
  std::size_t fastest = 0;
  double least = 1;
  for (std::size_t i = 1; i < contenders(); ++i)
    if (const auto own = ratio(i); is_running_[i] != 0 && own.high < 1 && own.median < least) {
      fastest = i;
      least = own.median;
    }
  return fastest;
}

std::string explain(TrialTimer& trials, std::span<const std::string> names, const std::string& sample) {
  std::string text;
  if (const auto baseline_s = trials.median_s(0))
    text = fmt::format(", {} rounds{}: {} takes {}", trials.rounds(), sample, names[0], format_seconds(*baseline_s));
  text += ".\n";
  for (std::size_t i = 1; i < names.size(); ++i) {
    const auto ratio = trials.ratio(i);
    if (trials.times(i).empty()) text += fmt::format("  {}: not timed, for it does not fit into the time\n", names[i]);
    else
      text += fmt::format("  {}: {} times as long (95 %: {} to {})\n", names[i], format_fixed(ratio.median, 3),
                          format_fixed(ratio.low, 3), format_fixed(ratio.high, 3));
  }
  const auto chosen = trials.fastest();
  return text + (chosen == 0
                     ? fmt::format("Kept: {}, for nothing that was timed is faster beyond doubt.\n", names[0])
                     : fmt::format("Chosen: {}, which is faster than {} beyond doubt.\n", names[chosen], names[0]));
}

}  // namespace commpass
