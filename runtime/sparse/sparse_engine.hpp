// All sparse dynamic data exchanges of a communicator: chooses their strategies and moves them on.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/sparse/slot_window.hpp"
#include "runtime/sparse/sparse_call.hpp"
#include "selector/choose/sparse_choice.hpp"

namespace commpass {

/// Sparse exchanges may overlap; collective operations inside them are started in the order of the exchanges, since
/// that must be the same on all ranks. So only the oldest in flight reduces.
///
/// The next strategy is chosen by what all ranks have sent in a *blocking* exchange before, because its end comes
/// before the next start on every rank. Who is told that without waiting: the reduction by which nbx ends carries it,
/// with what the exchange before has received; after other discoveries a reduction is started, and completed by the
/// next choice, but not after each exchange: it would cost as much as some of them take.
class SparseEngine final : InFlight {
 public:
  /// Collective.
  /// @param comm   ours, and alive as long as this; it is duplicated for the messages
  /// @param named    the strategy of all exchanges that name none and that it fits; empty: choose
  /// @param verbose  says on rank 0 whom it does not fit
  SparseEngine(MPI_Comm comm, const Layout& layout, const Machine& machine, std::string named, int largest_tag,
               bool verbose);
  ~SparseEngine();

  /// Makes what a rank gives to an exchange. What it throws becomes the exchange's error, on all ranks; it may be
  /// called several times.
  using Sends = std::function<SparseSends()>;
  /// An exchange and why it runs as it does.
  struct Started {
    std::unique_ptr<SparseCall> call;
    std::optional<Seconds> predicted_s;
    bool by_caller = false;  ///< is the strategy that which the caller has named?
  };
  /// Begins an exchange that nobody waits for now. What needs all ranks at one place (communicators, windows) is made
  /// in blocking ones only.
  /// @param constant  do all messages of all ranks have one size?
  /// @throws Error, the same on every rank
  Started start(const Sends& sends, bool constant, const SparseOptions& options);

  /// Begins and completes an exchange, and learns from it for the next choice.
  /// @throws Error, the same on every rank; see SparseCall::take
  ReceivedMessages run(const Sends& sends, bool constant, const SparseOptions& options);

  /// Completes a call and gives what it has received. @throws as SparseCall::take
  ReceivedMessages complete(SparseCall& call);
  bool test(const SparseCall& call);
  /// Completes a call whose result nobody wants.
  void abandon(SparseCall& call) noexcept;

  Rank rank() const { return comm_.rank(); }

 private:
  struct Chosen {
    SparseStrategy strategy;
    std::optional<Seconds> predicted_s;
    bool by_caller = false;  ///< then no other will do
  };
  struct Prepared {
    SparseSends sends;
    Tally tally;
  };
  Prepared prepare(const Sends& sends, bool constant) const;
  void check(const SparseSends& sends) const;
  Started start(const Sends& sends, bool constant, const SparseOptions& options, bool blocking);
  Chosen choose(const Tally& own, bool constant, const SparseOptions& options, bool blocking,
                std::optional<Tally>& all);
  /// Does the strategy that the environment names fit an exchange? As all that decides here, the same on every rank.
  bool fits(bool constant, bool blocking);
  Tally told_by_all(const Tally& own);
  const StagedRoute& staged(const SparseStrategy& strategy, bool blocking);
  bool may_use_slots(const Chosen& chosen, const Tally& all);
  bool require_window(const Chosen& chosen, const Tally& own, bool blocking, std::optional<Tally>& all);
  void make_window(Bytes bytes);
  void wait_for(const SparseCall& call);
  void learn(const SparseCall& call);
  int next_tag(std::size_t stages);
  void move_on() override;

  MPI_Comm parent_;       ///< for what all ranks do at the same point of the program
  OwnCommunicator comm_;  ///< for the rest
  Layout layout_;
  Machine machine_;
  std::string named_;
  std::string unpriced_;  ///< why nothing is chosen; empty: it is
  bool tells_misfit_;     ///< has to, and has not yet
  int largest_tag_, last_tag_ = 0;
  TallyOperation combine_;
  std::array<std::optional<SparseChoice>, 2> choices_;  ///< by whether sizes are constant
  std::map<std::string, StagedRoute> split_, whole_;    ///< by route
  std::unique_ptr<SlotWindow> window_;
  bool avoids_slots_ = false;                      ///< there were exchanges for which they are no good
  std::vector<SparseCall*> in_flight_;             ///< the oldest first
  SparseTraffic own_;                              ///< what this rank sent and got in the last blocking exchange
  std::optional<SparseTraffic> known_;             ///< of all ranks
  std::int64_t learned_ = 0;                       ///< from so many exchanges
  std::unique_ptr<NonblockingReduction> telling_;  ///< of own_, to be completed by the next choice
  bool has_broken_ = false;                        ///< MPI has failed in an exchange
};

}  // namespace commpass
