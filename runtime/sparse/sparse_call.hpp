// One sparse dynamic data exchange on its way, stage after stage.
#pragma once

#include <mpi.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/route/route.hpp"
#include "model/route/sparse_strategy.hpp"
#include "runtime/edges.hpp"
#include "runtime/sparse/discovery.hpp"
#include "runtime/sparse/failure_notice.hpp"
#include "runtime/sparse/parcel.hpp"
#include "runtime/sparse/sparse_exchange.hpp"
#include "runtime/sparse/staged_routes.hpp"

namespace commpass {

/// @throws InputError if ranks that should send messages of one size do not
void require_same_bytes(const Tally& all);

/// What a rank gives to an exchange.
struct SparseSends {
  const std::byte* buffer = nullptr;
  std::vector<SendEdge> edges;
  std::optional<Bytes> constant_bytes;   ///< the size of every message, if all ranks have one
  std::string error;                     ///< why they cannot be sent; then there are none
  std::shared_ptr<const void> holder{};  ///< of the buffer, where it is not the user's
};

/// Runs an exchange by one strategy. Blocks that are forwarded share a parcel for each peer, in which each has a
/// header; in a direct exchange a message is a block.
///
/// A rank that cannot send what it should, because its arguments are wrong or there is no memory, takes part all the
/// same, with nothing; when the exchange is complete, all ranks know of it, and why: its sentence is sent to all as a
/// last step of the exchange. So is no rank left waiting, in whatever order ranks complete their exchanges. Where there
/// is no memory for a message, it is taken in and lost: its receiver fails, and so do those to whom it should have
/// been forwarded.
class SparseCall {
 public:
  /// @param staged          alive until this is complete
  /// @param context         of its stages: a tag for each, from context.tag up; its communicator is that of all ranks
  /// @throws std::bad_alloc, and `sends` are as they were
  SparseCall(Rank rank, int ranks, const SparseStrategy& strategy, const StagedRoute& staged,
             const StageContext& context, SparseSends&& sends, const Tally& tally);

  /// Moves on without waiting; see DiscoveryStage::progress. @return true when it is complete. Never throws: failure()
  /// tells
  bool progress(bool may_reduce) noexcept;
  bool complete() const { return complete_; }

  const SparseStrategy& strategy() const { return strategy_; }

  // When it is complete:
  /// The combined tally, where the discovery has combined it over all ranks.
  const std::optional<Tally>& combined() const { return combined_; }
  const ReceivedMessages& received() const { return received_; }
  /// Does every rank know that it has failed?
  bool has_failed_everywhere() const { return notice_.has_value(); }
  /// The received messages, once. @throws Error, the same on every rank, if a rank could not send; Error, if something
  /// was lost; MpiError
  ReceivedMessages take();
  /// Has MPI failed, so that the ranks may not agree on the outcome?
  bool has_broken() const { return broken_ != nullptr; }

 private:
  /// A block that is here and has to leave; `memory` keeps it, unless it is the user's.
  struct Held {
    Block block;
    std::span<const std::byte> bytes;
    std::shared_ptr<const std::byte[]> memory;
  };
  bool last_stage_reached() const { return stage_ + 1 >= static_cast<int>(staged_.groups.size()); }
  bool is_framed() const;
  void move_on(bool may_reduce);
  template <class Action>
  void guarded(Action action) noexcept;
  std::vector<Rank> all_others() const;
  void hold_sends();
  void begin_stage();
  void end_stage();
  void finish();
  void lose(bool for_others);
  void frame(const StageGroup& group);
  void unpack(const Parcel& parcel);

  Rank rank_;
  int ranks_;
  SparseStrategy strategy_;
  const StagedRoute& staged_;  ///< may be gone when this is complete
  StageContext context_;
  SparseSends sends_;
  Tally tally_;
  std::vector<Held> held_;
  std::vector<Outgoing> outgoing_;
  std::vector<std::shared_ptr<std::byte[]>> frames_;  ///< memory of outgoing_ where parcels hold several blocks
  bool is_packed_ = false;                            ///< outgoing_ is that of this stage
  std::unique_ptr<DiscoveryStage> discovery_;         ///< of this stage, if it has begun
  int stage_ = 0;
  bool complete_ = false, has_lost_ = false;
  std::optional<FailureNotice> notice_;
  std::exception_ptr broken_;
  std::optional<Tally> combined_;
  ReceivedMessages received_;
};

}  // namespace commpass
