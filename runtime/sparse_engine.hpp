// All sparse dynamic data exchanges of a communicator: chooses their strategies and moves them on.
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/layout.hpp"
#include "model/machine.hpp"
#include "runtime/nonblocking_reduction.hpp"
#include "runtime/own_communicator.hpp"
#include "runtime/slot_window.hpp"
#include "runtime/sparse_call.hpp"
#include "selector/sparse_choice.hpp"

namespace commpass {

/// Sparse exchanges may overlap; collective operations inside them are started in the order of the exchanges, since
/// that must be the same on all ranks. So only the oldest in flight reduces.
///
/// The next strategy is chosen by what all ranks have sent in a *blocking* exchange before, because its end comes before the
/// next start on every rank. Who is told that without waiting: the reduction by which nbx ends carries it, with what the exchange
/// before has received; after other discoveries a reduction is started, and completed by the next choice, but not after each
/// exchange: it would cost as much as some of them take.
class SparseEngine {
 public:
  /// Collective.
  /// @param comm   ours, and alive as long as this; it is duplicated for the messages
  /// @param named    the strategy of all exchanges that name none and that it fits; empty: choose
  /// @param verbose  says on rank 0 whom it does not fit
  SparseEngine(MPI_Comm comm, const Layout& layout, const Machine& machine, std::string named, int largest_tag, bool verbose);

  /// An exchange and why it runs as it does.
  struct Started {
    std::unique_ptr<SparseCall> call;
    std::optional<Seconds> predicted_s;
  };
  /// Begins an exchange. What may wait for others to begin, too (communicators, windows), is made in blocking ones only.
  /// @throws Error, the same on every rank
  Started start(SparseSends sends, const SparseOptions& options, bool blocking);

  /// Begins and completes an exchange, and learns from it for the next choice.
  /// @throws Error, the same on every rank
  ReceivedMessages run(SparseSends sends, const SparseOptions& options);

  /// Moves on all exchanges in flight.
  void progress();
  /// Moves on until a call is complete; it is no longer in flight then.
  void complete(SparseCall& call);
  /// What a complete call has received.
  /// @throws Error, the same on every rank, if any rank gave bad arguments
  ReceivedMessages finish(SparseCall& call);
  /// Completes a call whose result nobody wants.
  void abandon(SparseCall& call) noexcept;

  /// What is wrong with edges; empty: nothing.
  std::string check(const void* buffer, const std::vector<SendEdge>& edges) const;
  Rank rank() const { return comm_.rank(); }

 private:
  struct Chosen {
    SparseStrategy strategy;
    std::optional<Seconds> predicted_s;
  };
  Chosen choose(const SparseSends& sends, const SparseOptions& options, bool blocking);
  /// Does the strategy that the environment names fit an exchange?
  bool fits(const SparseSends& sends, bool blocking);
  /// Are there slots for the messages, or may they be made now? The same on every rank.
  bool has_slots(const SparseSends& sends, bool blocking) const;
  const StagedRoute& staged(const SparseStrategy& strategy, bool blocking);
  SlotWindow* window(const SparseStrategy& strategy, const SparseSends& sends, bool blocking);
  void learn(const SparseCall& call, const ReceivedMessages& received);
  int next_tag(std::size_t stages);

  MPI_Comm parent_;                                     ///< for what all ranks do at the same point of the program
  OwnCommunicator comm_;                                ///< for the rest
  Layout layout_;
  Machine machine_;
  std::string named_;
  bool tells_misfit_;                                   ///< has to, and has not yet
  int largest_tag_, last_tag_ = 0;
  TallyOperation combine_;
  std::array<std::optional<SparseChoice>, 2> choices_;  ///< by whether sizes are constant
  std::map<std::string, StagedRoute> split_, whole_;    ///< by route
  std::unique_ptr<SlotWindow> window_;
  std::vector<SparseCall*> in_flight_;                  ///< the oldest first
  SparseStatistics own_;                                ///< what this rank sent and got in the last blocking exchange
  std::optional<SparseStatistics> known_;               ///< of all ranks
  std::int64_t learned_ = 0;                            ///< from so many exchanges
  std::unique_ptr<NonblockingReduction> telling_;       ///< of own_, to be completed by the next choice
};

}  // namespace commpass
