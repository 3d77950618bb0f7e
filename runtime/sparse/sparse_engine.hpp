// All sparse dynamic data exchanges of a communicator: chooses their strategies and moves them on.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/route/sparse_strategy.hpp"
#include "runtime/context.hpp"
#include "runtime/device/staged_bytes.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/sparse/node_mail.hpp"
#include "runtime/sparse/slot_window.hpp"
#include "runtime/sparse/sparse_call.hpp"
#include "runtime/sparse/sparse_chooser.hpp"
#include "runtime/sparse/staged_routes.hpp"

namespace commpass {

/// Sparse exchanges may overlap; collective operations inside them are started in the order of the exchanges, since
/// that must be the same on all ranks. So only the oldest in flight reduces.
class SparseEngine final : InFlight {
 public:
  /// Collective.
  explicit SparseEngine(std::shared_ptr<Context> context);
  ~SparseEngine();

  /// Makes what a rank gives to an exchange. What it throws becomes the exchange's error, on all ranks; it may be
  /// called several times.
  using Sends = std::function<SparseSends()>;
  /// An exchange and why it runs as it does.
  struct Started {
    std::unique_ptr<SparseCall> call;
    std::optional<Seconds> predicted_s;
    const char* reason = "";                 ///< why this strategy
    bool by_caller = false;                  ///< is it that which the caller has named?
    std::optional<Seconds> trial_began_s{};  ///< where it is timed
  };
  /// Begins an exchange that is completed later. Resources that need all ranks at one place (communicators, windows)
  /// are made in blocking ones only.
  /// @param constant  do all messages of all ranks have one size?
  /// @throws Error, the same on every rank
  Started start(const Sends& sends, bool constant, const SparseOptions& options);

  /// Begins and completes an exchange, and learns from it for the next choice.
  /// @throws Error, the same on every rank; see SparseCall::take
  ReceivedMessages run(const Sends& sends, bool constant, const SparseOptions& options);

  /// The strategy of the last of them that was complete, in text form; empty: there was none.
  std::string last_strategy() const { return last_ ? to_string(*last_) : ""; }

  /// Completes a call and gives what it has received. @throws as SparseCall::take
  ReceivedMessages complete(SparseCall& call);
  bool test(const SparseCall& call);
  /// Completes a call and drops its result.
  void abandon(SparseCall& call) noexcept;

  const std::shared_ptr<Context>& context() const { return context_; }
  /// Host memory for messages of one exchange on a device, which is free again when its last user drops it.
  /// @throws DeviceError, std::bad_alloc
  std::shared_ptr<StagedBuffer> staging(const Device& device);

 private:
  struct Prepared {
    SparseSends sends;
    Tally tally;
  };
  Prepared prepare(const Sends& sends, bool constant);
  void check(const SparseSends& sends) const;
  void stage(SparseSends& sends);
  Started start(const Sends& sends, bool constant, const SparseOptions& options, bool blocking);
  bool may_use_slots(const SparseChosen& chosen, const Tally& all);
  bool may_make_window(const SparseChosen& chosen, const Tally& own, bool blocking, std::optional<Tally>& all);
  void make_window(Bytes bytes);
  bool share_memory();
  void wait_for(const SparseCall& call);
  int next_tag(std::size_t stages);
  void move_on() override;

  std::shared_ptr<Context> context_;  ///< its communicator is for what all ranks do at the same point of the program
  OwnCommunicator comm_;              ///< for the rest
  int last_tag_ = 0;
  TallyOperation combine_;
  SparseChooser chooser_;
  StagedRoutes routes_;
  std::unique_ptr<SlotWindow> window_;
  NodePost post_;          ///< of `shared` strategies; without rings: not needed yet, or there is no memory
  bool may_share_memory_;  ///< the same on every rank
  std::vector<std::shared_ptr<StagedBuffer>> staging_;  ///< as many as exchanges were in flight at once
  std::optional<SparseStrategy> last_;
  bool avoids_slots_ = false;           ///< there were exchanges for which they are no good
  std::vector<SparseCall*> in_flight_;  ///< the oldest first
  bool has_broken_ = false;             ///< MPI has failed in an exchange
};

struct SparseExchange::State {
  State(std::shared_ptr<SparseEngine> its_engine, const SparseEngine::Sends& sends, bool constant,
        const SparseOptions& options)
      : engine(std::move(its_engine)), started(engine->start(sends, constant, options)) {}
  ~State() {
    if (!taken) engine->abandon(*started.call);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<SparseEngine> engine;
  SparseEngine::Started started;
  bool taken = false;
};

}  // namespace commpass
