// How the receivers of a stage of a sparse dynamic data exchange learn of their messages.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/route/sparse_strategy.hpp"
#include "runtime/execute/send_limits.hpp"
#include "runtime/sparse/parcel.hpp"
#include "runtime/sparse/sparse_tally.hpp"

namespace commpass {

class SlotWindow;
struct NodePost;
struct StageGroup;

/// Where and among whom a stage takes place. Ranks are those of `comm`, which are all that may exchange in the stage.
struct StageContext {
  MPI_Comm comm = MPI_COMM_NULL;
  int tag = 0;              ///< under which nothing else is sent there
  Bytes largest_piece = 0;  ///< see ProbedMail
  SendLimits limits;        ///< of messages to ranks of `comm`
  const TallyOperation* combine = nullptr;
  std::vector<Rank> peers;   ///< with whom this rank may exchange messages, ascending; where the discovery is dense, or
                             ///< with memory of the node at least those on it
  NodePost* post = nullptr;  ///< for messages within the node; null: they go by MPI, too
  const StageGroup* group = nullptr;  ///< where there is one, the ranks of `comm`
  SlotWindow* window = nullptr;       ///< where the discovery is rma, and
  std::int64_t window_exchange = 0;   ///< the number of the exchange there
};

/// One stage of an exchange: sends the parcels of this rank and discovers those for it.
///
/// If any rank had failed before it began, all ranks learn it (after the last stage of a route, those of a stage's
/// communicator after that stage). Whether the whole tally is combined on the way depends on the discovery.
class DiscoveryStage {
 public:
  virtual ~DiscoveryStage() = default;

  /// Begins. @param parcels  what they refer to must stay until progress() has returned true
  /// @throws std::bad_alloc, and nothing has been sent: it may begin again, with less; MpiError
  virtual void begin(std::span<const Outgoing> parcels, const Tally& tally) = 0;
  /// Moves on without waiting.
  /// @param may_reduce  is it this exchange's turn to start a collective operation? All ranks must start them in one
  /// order
  /// @return true when all that this rank sends and gets has arrived
  /// @throws std::bad_alloc, and it may be called again; MpiError
  virtual bool progress(bool may_reduce) = 0;

  // When it is complete:
  /// The received parcels. One that there was no memory for has null memory. @throws std::bad_alloc
  virtual std::vector<Parcel> take() = 0;
  virtual Failures failures() const = 0;
  virtual std::optional<Tally> combined() const { return {}; }
};

std::unique_ptr<DiscoveryStage> make_stage(Discovery discovery, const StageContext& context);

// Each is defined in the file of its discovery.
std::unique_ptr<DiscoveryStage> make_nbx_stage(const StageContext& context);
std::unique_ptr<DiscoveryStage> make_reduce_stage(const StageContext& context);
std::unique_ptr<DiscoveryStage> make_allreduce_stage(const StageContext& context);
std::unique_ptr<DiscoveryStage> make_rma_stage(const StageContext& context);
std::unique_ptr<DiscoveryStage> make_alltoall_stage(const StageContext& context);
std::unique_ptr<DiscoveryStage> make_shared_stage(Discovery discovery, const StageContext& context);

}  // namespace commpass
