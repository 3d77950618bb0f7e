// The clocks of the burst model (burst.cpp): when each rank is done with what it has run so far, and on what it spent
// that. Private to the model.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "model/cost/batches.hpp"
#include "model/cost/flight.hpp"
#include "model/cost/models.hpp"
#include "model/cost/overlap.hpp"
#include "model/cost/servers.hpp"
#include "model/cost/trace.hpp"
#include "model/grouping.hpp"

namespace commpass {

/// What the calls that begin and end a batch take.
Seconds batch_calls_s(const Machine& machine, Usage usage);
/// Is there a batch of its stage before it?
bool follows_another(const FoldedOf& batch);
/// The wait of ranks for one another in such a batch: skew_s of the machine.
Seconds skew_seconds(const FoldedOf& batch, const Layout& layout, const Machine& machine);
/// May derived datatypes describe the messages of a stage? They may if they are made once and moved by our requests.
bool may_use_datatypes(const StageInfo& stage, Usage usage);

/// A clock for every rank of a schedule, which runs it batch by batch.
class Clocks {
 public:
  /// What ranks have spent, by kind.
  using Parts = std::array<Seconds, cost_part_count>;

  /// @param trace  records all actions of ranks; null: none are recorded
  Clocks(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage, TraceRecorder* trace);

  Seconds latest() const { return std::ranges::max(clock_); }
  const std::vector<Seconds>& now() const { return clock_; }
  /// How long servers were busy with one batch when the next came.
  Seconds overlap() const { return servers_.overlap(); }

  /// Time since the last call on the critical path to the last finish: by the last rank, and by those it had to wait
  /// for.
  Parts take_parts();

  void copy_to_itself(Rank rank, Bytes bytes);
  /// Each rank copies between its device and host memory, on its own.
  void stage(std::span<const Seconds> seconds);
  void begin_stage(const StageInfo& stage) { may_use_datatypes_ = commpass::may_use_datatypes(stage, usage_); }
  /// Takes this in place of what servers do, message after message of batch after batch.
  void know(std::span<const Moved> moved) { moved_ = moved; }
  /// Adds what the MPI library's collective takes beyond the messages of a stage, which have been run.
  /// @param entered  when each rank entered the stage; it does not leave earlier, however fast the library is
  void add_library(const FoldedOf& stage, std::span<const Seconds> entered);
  /// Runs the messages of one batch, which are sorted by sender, and the batches that it stands for. When the first one
  /// has gone by, all take as long.
  void run(const FoldedOf& batch);

 private:
  struct Finish {
    Rank rank;
    Seconds when;
    Parts spent;
    Rank from;  // on whose parts it builds
  };

  /// On whose parts a flight builds, and what it adds.
  struct Way {
    Rank from = 0;
    Seconds latency = 0, transfer = 0, sharing = 0;
  };

  void run_once(const FoldedOf& batch, bool follows);
  void spend_all(Seconds seconds, CostPart which, Activity activity);
  /// Of a node that stands for all: are all ranks about to send the same at the same time? Then each also receives what
  /// it sends.
  bool do_all_the_same(const FoldedOf& batch) const;
  /// Runs what one rank sends as if to itself.
  void run_one_for_all(const FoldedOf& batch);
  void run_each(const FoldedOf& batch, bool for_all);

  template <class PiecesOf>
  void copy(const FoldedOf& batch, PiecesOf pieces_of);
  /// The constant time before all pieces of a batch, at each rank that has some.
  template <class PiecesOf>
  void start_copies(const FoldedOf& batch, PiecesOf pieces_of);
  void spend_on_copies(Rank rank, Seconds seconds) { spend(rank, seconds, CostPart::copying, Activity::copy); }
  /// A rank does nothing else for so long.
  void spend(Rank rank, Seconds seconds, CostPart which, Activity activity);

  /// How many of the first messages share nothing with those after them: some nodes' worth, few enough for the cache.
  std::size_t count_independent(std::span<const Message> messages) const;
  /// @param for_all  do all other ranks send the same at the same time?
  void launch(const FoldedOf& batch, std::size_t begin, std::size_t count, bool for_all);
  void take_what_moved();
  static Way way_of(const Flight& flight);
  Parts spent_on(const Way& way) const;
  void arrive();
  Seconds out(const Flight& flight) const;
  void finish_sends();
  void finish_receives();
  /// Sets the clock of every rank that took part to the later of its sends and its receives.
  void advance();

  TraceRecorder* trace_;  // null: nothing is recorded
  const Layout& layout_;
  const Machine& machine_;
  Usage usage_;
  Servers servers_;
  std::span<const Moved> moved_;  // known times of the remaining messages; empty: they are found batch by batch
  Launching launching_;
  Seconds batch_calls_s_ = 0;
  bool copies_cost_ = true, may_use_datatypes_ = false;
  std::array<int, most_levels> ranks_together_{};  // by level, in an instance of a node; 0: not the same in all
  std::vector<Message> own_messages_;              // of a rank that stands for all
  bool nodes_are_separate_ = false;  // may the messages of one node be dealt with before those of the next?
  std::vector<Seconds> clock_;
  std::vector<Seconds> launched_;  // when a rank's sends of the batch have left it, and it can take in messages;
                                   // between batches its clock
  std::vector<Parts> parts_;
  std::vector<Flight> flights_;
  std::vector<Seconds>
      last_arrival_;  // by receiver, in this batch; apart from the way there, which fewer messages ask for
  std::vector<Way> last_way_;
  std::vector<Arrival> arrivals_, arrivals_by_receiver_;
  Grouping by_receiver_;
  std::vector<Finish> finish_;
  std::vector<bool> advanced_;       // in the batch that is being finished
  std::vector<bool> starts_copies_;  // while those of a batch are started
};

}  // namespace commpass
