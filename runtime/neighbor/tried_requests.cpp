#include "runtime/neighbor/tried_requests.hpp"

#include <utility>

namespace commpass {

TriedRequests::Ongoing::Ongoing(std::size_t contenders, Trials trials)
    : given(std::move(trials)),
      timer(contenders, TrialPace::bounds_anytime),
      pace(contenders, given.incumbent, 0, TrialPace::Begin::anytime, given.calls_ahead),
      maxima(given.comm, given.tag, contenders + 1) {}

TriedRequests::TriedRequests(std::vector<Contender> contenders, Trials trials)
    : contenders_(std::move(contenders)), running_(trials.incumbent) {
  trials_ = std::make_unique<Ongoing>(contenders_.size(), std::move(trials));
}

void TriedRequests::begin(std::size_t batch) {
  current_ = batch;
  if (batch == 0) {
    if (trials_) end_last();
    if (trials_) choose_next();
    is_exchanged_ = false;
  }
  const double begin_s = is_timed_ ? MPI_Wtime() : 0;
  running().begin(batch);
  if (is_timed_ && batch == 0) add_time(MPI_Wtime() - begin_s);
}

/// What the exchange before has found.
void TriedRequests::end_last() {
  auto& [given, timer, pace, maxima, calls_left, is_telling] = *trials_;
  if (is_telling) {
    maxima.end_round();
    if (maxima.is_over()) end_telling();
    return;
  }
  if (!std::exchange(is_timed_, false)) return;
  if (pace.knows_call() && !timer.note(spent_s_)) return;
  maxima.begin(pace.tell(pace.knows_call() ? timer.round() : std::span(&spent_s_, 1)));
  is_telling = true;
}

/// All ranks know the same times.
void TriedRequests::end_telling() {
  auto& trials = *trials_;
  auto& timer = trials.timer;
  auto& pace = trials.pace;
  trials.is_telling = is_told_ = false;
  trials.calls_left = pace.knows_call() ? pace.end_round(timer) : pace.end_call();
  if (!timer.is_over() && timer.is_running(pace.incumbent())) return;
  const auto fastest = timer.fastest();
  trials.given.tell(fastest, timer);
  pace.replace_incumbent(fastest);
  if (!timer.is_over()) return;
  running_ = fastest;
  for (std::size_t i = 0; i < contenders_.size(); ++i)
    if (i != fastest && !contenders_[i].is_kept) contenders_[i].requests.reset();
  trials_.reset();
}

void TriedRequests::choose_next() {
  auto& [given, timer, pace, maxima, calls_left, is_telling] = *trials_;
  running_ = pace.incumbent();
  is_told_ = is_telling;
  spent_s_ = 0;
  if (is_telling) {
    const double begin_s = MPI_Wtime();
    maxima.begin_round();
    pace.add_elapsed(MPI_Wtime() - begin_s);
  } else if (calls_left > 0) {
    --calls_left;
  } else {
    is_timed_ = true;
    if (pace.knows_call()) running_ = timer.next();
  }
}

std::span<MPI_Request> TriedRequests::requests() {
  return is_told_last() ? trials_->maxima.requests() : running().requests();
}

bool TriedRequests::are_complete(const char* call, int code) {
  if (is_told_last()) {
    check_mpi(call, code);
    trials_->pace.add_elapsed(MPI_Wtime() - exchanged_at_s_);
    return true;
  }
  if (!running().are_complete(call, code)) return false;
  if (!is_told_ || current_ + 1 < batches()) return true;
  is_exchanged_ = true;
  exchanged_at_s_ = MPI_Wtime();
  return false;
}

void TriedRequests::abandon() noexcept {
  if (trials_) trials_->maxima.abandon();
  running().abandon();
}

}  // namespace commpass
