#include "runtime/choose/timed_rounds.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "model/base/text.hpp"
#include "model/median.hpp"
#include "model/route/strategy.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

TimedRounds::TimedRounds(MPI_Comm comm, std::size_t strategies, std::size_t most)
    : comm_(comm), rank_(rank_in(comm)), most_(most) {
  all_or_none(comm, [&] {
    order_.resize(strategies);
    mine_.resize(strategies);
    slowest_.resize(strategies);
    is_running_.resize(strategies + 1);
    if (rank_ != 0) return;
    seconds_.resize(strategies);
    for (auto& times : seconds_) times.reserve(most);
  });
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::fill(is_running_, 1);
}

std::size_t TimedRounds::runners() const {
  return static_cast<std::size_t>(std::count(is_running_.begin(), is_running_.end() - 1, 1));
}

void TimedRounds::collect() {
  COMMPASS_MPI_CALL(MPI_Reduce, mine_.data(), slowest_.data(), static_cast<int>(mine_.size()), MPI_DOUBLE, MPI_MAX, 0,
                    comm_);
  std::ranges::fill(mine_, 0);
  std::ranges::shuffle(order_, random_);
}

void TimedRounds::keep() {
  for (std::size_t i = 0; i < strategies(); ++i)
    if (is_running(i)) seconds_[i].push_back(slowest_[i]);
}

bool TimedRounds::review() {
  if (rounds() >= next_review_) {
    next_review_ = rounds() * 3 / 2;
    try {
      const auto now = ratios();
      for (std::size_t i = 1; i < strategies(); ++i)
        if (is_beaten(now, i)) drop(i);
      if (runners() == 2 && fastest_beyond_doubt(now) != 0) return true;  // that one and the baseline
    } catch (const std::bad_alloc&) {
      return true;
    }
  }
  return rounds() >= most_ || runners() < 2;
}

bool TimedRounds::tell(bool is_over) {
  is_running_.back() = is_over ? 1 : 0;
  COMMPASS_MPI_CALL(MPI_Bcast, is_running_.data(), static_cast<int>(is_running_.size()), MPI_CHAR, 0, comm_);
  return is_running_.back() != 0;
}

std::string explain_rounds(const TimedRounds& rounds, std::span<const std::string> names,
                           std::span<const MedianInterval> ratios, std::size_t chosen, const std::string& samples) {
  std::string text;
  if (const auto& baseline = rounds.times(0); !baseline.empty())
    text +=
        fmt::format(", {} rounds{}: {} takes {}", rounds.rounds(), samples, names[0], format_seconds(median(baseline)));
  text += ".\n";
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (rounds.times(i).empty()) text += fmt::format("  {}: not timed, for it does not fit into the time\n", names[i]);
    else
      text += fmt::format("  {}: {} times as long (95 %: {} to {})\n", names[i], format_fixed(ratios[i].median, 3),
                          format_fixed(ratios[i].low, 3), format_fixed(ratios[i].high, 3));
  }
  return text + (chosen == 0
                     ? fmt::format("Kept: {}, for nothing that was timed is faster beyond doubt.\n", names[0])
                     : fmt::format("Chosen: {}, which is faster than {} beyond doubt.\n", names[chosen], names[0]));
}

std::vector<std::string> paths_of(std::span<const std::string> strategies) {
  std::vector<std::string> paths;
  for (const auto& strategy : strategies)
    if (const auto path = to_string(parse_strategy(strategy).path); std::ranges::find(paths, path) == paths.end())
      paths.push_back(path);
  return paths;
}

}  // namespace commpass
