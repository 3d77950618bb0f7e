// One sparse dynamic data exchange on its way, stage after stage.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/route.hpp"
#include "model/sparse_strategy.hpp"
#include "runtime/discovery.hpp"
#include "runtime/parcel.hpp"
#include "runtime/plan.hpp"
#include "runtime/sparse_exchange.hpp"
#include "runtime/stage_group.hpp"

namespace commpass {

/// A route with what its stages need.
struct StagedRoute {
  std::unique_ptr<Route> route;
  std::vector<StageGroup> groups;  ///< by stage
};

/// What a rank gives to an exchange.
struct SparseSends {
  const std::byte* buffer = nullptr;
  std::vector<SendEdge> edges;
  std::optional<Bytes> constant_bytes;  ///< the size of every message, if all ranks have one
  std::string error;                    ///< why they cannot be sent; then there are none
};

/// Runs an exchange by one strategy. Blocks that are forwarded share a parcel for each peer, in which each has a header;
/// in a direct exchange a message is a block.
class SparseCall {
 public:
  /// @param staged          alive as long as this
  /// @param context         of its stages: a tag for each, from context.tag up
  SparseCall(Rank rank, int ranks, const SparseStrategy& strategy, const StagedRoute& staged, const StageContext& context, SparseSends sends, const Tally& tally);

  /// Moves on without waiting; see DiscoveryStage::progress. @return true when it is complete
  bool progress(bool may_reduce);
  bool complete() const { return complete_; }

  const SparseStrategy& strategy() const { return strategy_; }
  /// Why this rank sent nothing; empty: it did.
  const std::string& error() const { return sends_.error; }

  // When it is complete:
  bool any_failed() const { return tally_.failures > 0; }
  /// The combined tally, where the discovery has combined it over all ranks.
  const std::optional<Tally>& combined() const { return combined_; }
  ReceivedMessages& received() { return received_; }

 private:
  /// A block that is here and has to leave; `memory` keeps it, unless it is the user's.
  struct Held {
    Block block;
    std::span<const std::byte> bytes;
    std::shared_ptr<const std::byte[]> memory;
  };
  /// What goes before a block in a parcel that holds several.
  struct Header {
    Rank source = 0, destination = 0;
    Bytes bytes = 0;
  };

  bool last_stage_reached() const { return stage_ + 1 >= static_cast<int>(staged_.groups.size()); }
  bool is_framed() const;
  std::vector<Rank> all_others() const;
  void hold_sends();
  void begin_stage();
  void end_stage();
  void finish();
  void frame(const StageGroup& group);
  void unpack(const Parcel& parcel);

  Rank rank_;
  int ranks_;
  SparseStrategy strategy_;
  const StagedRoute& staged_;
  StageContext context_;
  SparseSends sends_;
  Tally tally_;
  std::vector<Held> held_;
  std::vector<Outgoing> outgoing_;
  std::vector<std::shared_ptr<std::byte[]>> frames_;  ///< memory of outgoing_ where parcels hold several blocks
  std::unique_ptr<DiscoveryStage> discovery_;
  int stage_ = 0;
  bool complete_ = false;
  std::optional<Tally> combined_;
  ReceivedMessages received_;
};

}  // namespace commpass
