// Requests of an exchange whose contenders are tried in the program's own exchanges. Private to the runtime.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "runtime/execute/batch_requests.hpp"
#include "runtime/mpi/disseminated_maxima.hpp"
#include "selector/choose/trial_pace.hpp"

namespace commpass {

/// Several requests for the same edges, of which each exchange runs one: the incumbent; in rounds of trials each
/// contender once (TrialTimer, TrialPace); after the trials the fastest.
///
/// Why no rank waits for ever: which contender an exchange runs, and when ranks tell each other times, follows from the
/// number of the exchange and from told times, which are the same on every rank. Times are told by dissemination: one
/// round in each of the ceil(log2 P) exchanges after a round of trials, as if each rank had one more edge to a rank and
/// from another one. Their messages leave in begin(), and are completed in the wait for the same exchange. So a start
/// waits for nothing, a wait for no rank that has started the exchange, and handles need no common order: the messages
/// are no collective, and have a tag of their own. A handle that is destroyed completes its exchange, and with it the
/// round; trials that have not ended then end with it.
///
/// The time of a contender is what the program spends in start, test and wait of its exchange. Computation in between
/// does not count, nor the part of an exchange that it hides. All contenders meet the same waiting for other ranks, in
/// turn, and the one to stay has to be faster beyond doubt.
class TriedRequests final : public BatchRequests {
 public:
  struct Contender {
    std::unique_ptr<BatchRequests> requests;
    bool is_kept = false;  ///< for as long as this: other ranks may use its memory
  };
  struct Trials {
    std::size_t incumbent = 0;      ///< contender that runs between trials; the first one is the baseline
    std::int64_t calls_ahead = 0;   ///< exchanges of whose time trials may take a share before they run
    MPI_Comm comm = MPI_COMM_NULL;  ///< ours, where ranks tell each other times
    int tag = 0;                    ///< by messages that have it alone
    /// Is told that another contender is the incumbent, and which one stays when the trials are over. Must not throw.
    std::function<void(std::size_t contender, TrialTimer& trials)> tell;
  };

  /// @param contenders  at least two, the same on every rank
  TriedRequests(std::vector<Contender> contenders, Trials trials);

  std::size_t batches() const override { return running().batches(); }
  std::size_t planned_batch(std::size_t batch) const override { return running().planned_batch(batch); }
  void begin(std::size_t batch) override;
  std::span<MPI_Request> requests() override;
  MPI_Status* statuses() override { return is_told_last() ? MPI_STATUSES_IGNORE : running().statuses(); }
  bool are_complete(const char* call, int code) override;
  void end(std::size_t batch) override { running().end(batch); }
  void abandon() noexcept override;

  /// Does the time of the program in the exchange in flight count?
  bool is_timed() const { return is_timed_; }
  void add_time(Seconds seconds) { spent_s_ += seconds; }
  /// The number of the contender that runs the last exchange that has begun.
  std::size_t running_number() const { return running_; }
  /// Are the trials over, so that this one stays?
  bool are_over() const { return !trials_; }

 private:
  struct Ongoing {
    Trials given;
    TrialTimer timer;
    TrialPace pace;
    DisseminatedMaxima maxima;
    std::int64_t calls_left = TrialPace::calls_before;
    bool is_telling = false;

    Ongoing(std::size_t contenders, Trials trials);
  };
  BatchRequests& running() const { return *contenders_[running_].requests; }
  bool is_told_last() const { return is_told_ && is_exchanged_; }
  void end_last();
  void end_telling();
  void choose_next();

  std::vector<Contender> contenders_;
  std::unique_ptr<Ongoing> trials_;  ///< null when they are over
  std::size_t running_, current_ = 0;
  bool is_timed_ = false;
  bool is_told_ = false;       ///< are times told in the exchange in flight?
  bool is_exchanged_ = false;  ///< are its own requests complete?
  Seconds spent_s_ = 0, exchanged_at_s_ = 0;
};

}  // namespace commpass
