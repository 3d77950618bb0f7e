// Which strategy a sparse exchange runs, by what all ranks have sent before.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "model/route/sparse_strategy.hpp"
#include "runtime/choose/one_shot_chooser.hpp"
#include "runtime/choose/traffic_survey.hpp"
#include "runtime/context.hpp"
#include "runtime/sparse/sparse_exchange.hpp"
#include "runtime/sparse/sparse_tally.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {

class SparseCall;

/// An exchange before it is chosen. All but the tally is the same on every rank.
struct SparseRequest {
  const Tally& own;
  const SparseOptions& options;
  bool constant = false;        ///< do all messages of all ranks have one size?
  bool blocking = false;        ///< may it wait for all ranks?
  bool may_make_slots = false;  ///< to put messages into, and
  bool can_put = false;         ///< by them or into those that are there
  bool has_memory = false;      ///< may its messages go through memory of nodes?
};

/// What it runs, and why.
struct SparseChosen {
  SparseStrategy strategy;
  std::optional<Seconds> predicted_s;
  const char* reason = "";
  bool by_caller = false;  ///< then no other will do
  bool is_trial = false;   ///< is it timed?
};

/// The next strategy is chosen by what all ranks have sent in a *blocking* exchange before, because its end comes
/// before the next start on every rank. They learn that without waiting: the reduction by which nbx ends carries it,
/// with what the exchange before has received; after other discoveries a survey is begun, but not after each exchange:
/// it would cost as much as some of them take.
///
/// Blocking exchanges have rank 0 decide for new classes. One that is not blocking may not wait: it runs the
/// decision for the nearest class, at first one of some that are decided when all ranks are here for the first time.
class SparseChooser {
 public:
  /// Collective. @param comm  of the exchanges; @param combine  of their tallies; both alive as long as this
  SparseChooser(std::shared_ptr<const Context> context, MPI_Comm comm, const TallyOperation& combine);

  /// The same on every rank.
  /// @param all  what all ranks send, where they have told each other for this choice
  /// @throws Error, the same on every rank
  SparseChosen choose(const SparseRequest& request, std::optional<Tally>& all);

  /// For a trial that cannot be run, as all ranks have found: the replacement. Collective. @throws MpiError
  SparseChosen choose_another(const SparseChosen& tried);

  /// What all ranks send, now. Collective. @throws Error, the same on every rank, if sizes differ that should not
  Tally told_by_all(const Tally& own);

  /// What the trial took this rank that was chosen last. Collective. @throws MpiError
  void note_trial(Seconds seconds) { chooser_.note(seconds); }

  // What there is to learn from blocking exchanges:
  /// Of one that begins.
  void note_sent(const SparseTraffic& own) { own_ = own; }
  /// Of one that was chosen and is complete.
  void learn(const SparseCall& call);
  /// Adds what this rank has received in the last one.
  void add_received(SparseTraffic& sends) const;

 private:
  /// Does the strategy that the environment names fit an exchange?
  bool fits(const SparseRequest& request);
  SparseChosen cheapest(const SparseRequest& request);
  Decision price_of(const SparseTraffic& statistics, bool has_slots, bool has_memory, PlannerMode planner);
  void decide_first();

  std::shared_ptr<const Context> context_;
  MPI_Comm comm_;
  const TallyOperation& combine_;
  bool tells_misfit_;                   ///< has to, and has not yet
  std::optional<SparseChoice> prices_;  ///< on rank 0, once something was to be priced
  OneShotChooser chooser_;
  SparseTraffic own_;                   ///< what this rank sent and got in the last blocking exchange
  std::optional<SparseTraffic> known_;  ///< of all ranks
  TrafficSurvey survey_;                ///< of own_
};

}  // namespace commpass
