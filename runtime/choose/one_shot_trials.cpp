#include "runtime/choose/one_shot_trials.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "model/base/text.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

namespace {

constexpr std::size_t most_rounds = 50;

}  // namespace

void begin_together(MPI_Comm comm) {
  assemble(comm);
  common_start(comm);
}

OneShotTrials::OneShotTrials(MPI_Comm comm, std::vector<OneShotChoice> contenders, Seconds budget)
    : comm_(comm),
      contenders_(std::move(contenders)),
      budget_(budget),
      rounds_(comm, contenders_.size(), most_rounds),
      is_over_(contenders_.size() < 2) {}

void OneShotTrials::advance() {
  const auto to_one_that_runs = [&] {
    while (place_ < rounds_.strategies() && !rounds_.is_running(rounds_.order()[place_])) ++place_;
  };
  to_one_that_runs();
  if (place_ < rounds_.strategies()) return;
  rounds_.collect();
  is_over_ = rounds_.tell(rank_in(comm_) == 0 && judge());
  place_ = 0;
  to_one_that_runs();
  if (is_over_) conclude();
}

void OneShotTrials::add(Seconds seconds) {
  rounds_.note(rounds_.order()[place_], seconds);
  ++place_;
  advance();
}

bool OneShotTrials::drop() {
  const auto dropped = rounds_.order()[place_];
  if (dropped == 0) return false;
  rounds_.drop(dropped);
  advance();
  return true;
}

/// On rank 0. @return is that enough?
bool OneShotTrials::judge() {
  if (!std::exchange(is_warm_, true)) {
    drop_costliest();
    return rounds_.runners() < 2;
  }
  const auto fastest = fastest_of_round();
  for (std::size_t i = 0; i < rounds_.strategies(); ++i)
    if (rounds_.is_running(i)) lost_ += rounds_.slowest(i) - fastest;
  rounds_.keep();
  return rounds_.review() || (rounds_.rounds() >= TimedRounds::least && lost_ > budget_);
}

Seconds OneShotTrials::fastest_of_round() const {
  auto fastest = std::numeric_limits<Seconds>::infinity();
  for (std::size_t i = 0; i < rounds_.strategies(); ++i)
    if (rounds_.is_running(i)) fastest = std::min(fastest, rounds_.slowest(i));
  return fastest;
}

/// Until the rest loses no more than may be lost in the fewest rounds that tell anything.
void OneShotTrials::drop_costliest() {
  const auto fastest = fastest_of_round();
  for (;;) {
    Seconds lost = 0;
    std::size_t slowest = 0;
    for (std::size_t i = 1; i < rounds_.strategies(); ++i) {
      if (!rounds_.is_running(i)) continue;
      lost += (rounds_.slowest(i) - fastest) * static_cast<double>(TimedRounds::least);
      if (slowest == 0 || rounds_.slowest(i) > rounds_.slowest(slowest)) slowest = i;
    }
    if (lost <= budget_) return;
    rounds_.drop(slowest);
  }
}

void OneShotTrials::conclude() {
  std::array<int, 2> found{};  // which, and was anything timed?
  if (rank_in(comm_) == 0) found = {static_cast<int>(find_fastest()), rounds_.rounds() > 0 ? 1 : 0};
  COMMPASS_MPI_CALL(MPI_Bcast, found.data(), static_cast<int>(found.size()), MPI_INT, 0, comm_);
  chosen_ = static_cast<std::size_t>(found.front());
  contenders_[chosen_].is_measured = found.back() != 0;
}

/// On rank 0.
std::size_t OneShotTrials::find_fastest() {
  try {
    const auto ratios = rounds_.ratios();
    const auto chosen = fastest_beyond_doubt(ratios);
    std::vector<std::string> names;
    for (const auto& contender : contenders_) names.push_back(contender.strategy);
    explanation_ = "Measured" + explain_rounds(rounds_, names, ratios, chosen, "");
    return chosen;
  } catch (const std::bad_alloc&) {
    explanation_.clear();
    return 0;
  }
}

}  // namespace commpass
