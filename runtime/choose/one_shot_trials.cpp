#include "runtime/choose/one_shot_trials.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/text.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/common_start.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

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

void OneShotTrials::skip_dropped() {
  while (place_ < rounds_.strategies() && !rounds_.is_running(rounds_.order()[place_])) ++place_;
}

void OneShotTrials::add(Seconds seconds) {
  rounds_.note(rounds_.order()[place_], seconds);
  ++place_;
  skip_dropped();
  if (place_ < rounds_.strategies()) return;
  rounds_.collect();
  is_over_ = rounds_.tell(rank_in(comm_) == 0 && judge());
  place_ = 0;
  skip_dropped();
  if (is_over_) conclude();
}

/// On rank 0. @return is that enough?
bool OneShotTrials::judge() {
  auto fastest = std::numeric_limits<Seconds>::infinity();
  for (std::size_t i = 0; i < rounds_.strategies(); ++i)
    if (rounds_.is_running(i)) fastest = std::min(fastest, rounds_.slowest(i));
  const auto loss = [&](std::size_t i) { return rounds_.slowest(i) - fastest; };
  if (!std::exchange(is_warm_, true)) {
    for (std::size_t i = 1; i < rounds_.strategies(); ++i)
      if (loss(i) * static_cast<double>(TimedRounds::least) > budget_) rounds_.drop(i);
    return rounds_.runners() < 2;
  }
  for (std::size_t i = 0; i < rounds_.strategies(); ++i)
    if (rounds_.is_running(i)) lost_ += loss(i);
  rounds_.keep();
  return rounds_.review() || (rounds_.rounds() >= TimedRounds::least && lost_ > budget_);
}

void OneShotTrials::conclude() {
  int chosen = 0;
  all_or_none(comm_, [&] {
    if (rank_in(comm_) != 0) return;
    const auto ratios = rounds_.ratios();
    chosen = static_cast<int>(fastest_beyond_doubt(ratios));
    std::vector<std::string> names;
    for (const auto& contender : contenders_) names.push_back(contender.strategy);
    explanation_ = "Measured" + explain_rounds(rounds_, names, ratios, static_cast<std::size_t>(chosen), "");
  });
  COMMPASS_MPI_CALL(MPI_Bcast, &chosen, 1, MPI_INT, 0, comm_);
  chosen_ = static_cast<std::size_t>(chosen);
  contenders_[chosen_].is_measured = true;
}

}  // namespace commpass
