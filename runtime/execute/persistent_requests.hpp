// Requests of a plan: persistent, or made for each exchange.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "model/machine/machine.hpp"
#include "runtime/execute/batch_requests.hpp"
#include "runtime/execute/plan_buffers.hpp"
#include "runtime/execute/send_limits.hpp"
#include "runtime/mpi/message_type.hpp"
#include "runtime/mpi/own_requests.hpp"

namespace commpass {

/// An exchange has this many consecutive tags, for messages between the same two ranks in a batch. Requests with the
/// same tag and ranks are started one after another, so more tags mean fewer calls.
inline constexpr int tags_per_exchange = 16;

/// Does a derived datatype describe the pieces of a message, so that the MPI library gathers or scatters them?
bool stays_in_pieces(const PlannedMessage& message, const Machine& machine);

/// Are requests made once (persistent), or for each exchange (immediate)? MPI libraries may have a faster path for
/// small immediate sends; if the profile says so (`operations.new_send_bytes`), those are immediate in either case.
/// Without a calibration those within nodes are whose shorter path is known of the library.
enum class RequestLife { persistent, immediate };

/// A plan with its buffers and requests. Allocates and creates nothing after construction, except immediate requests.
class PersistentRequests final : public BatchRequests {
 public:
  /// @param comm           ours, and alive as long as this
  /// @param tag            the first of `tags_per_exchange`; the same on all ranks, used by no other exchange in flight
  /// @param machine        whose parameters decide between copies and derived datatypes, and which sends are immediate
  /// @param memory         of the user's buffers, and of our own
  /// @param limits         of sends in flight: a batch that exceeds them is run as several
  /// @throws MpiError, std::bad_alloc
  PersistentRequests(const Plan& plan, MPI_Comm comm, int tag, const void* send_buffer, void* receive_buffer,
                     const Machine& machine = {}, Memory& memory = host_memory(),
                     RequestLife life = RequestLife::persistent, const SendLimits& limits = {});

  std::size_t batches() const override { return ends_.size() - 1; }
  std::size_t planned_batch(std::size_t batch) const override { return planned_[batch]; }
  const PlanBuffers& buffers() const { return buffers_; }
  void begin(std::size_t batch) override;
  std::span<MPI_Request> requests() override;
  void end(std::size_t batch) override;
  void abandon() noexcept override;

 private:
  struct Range {
    std::size_t begin = 0, end = 0;
  };
  /// The ends of a batch's ranges in copies_, requests_ and starts_; those of the next batch follow. If a batch of the
  /// plan is run as several, all receives are started in the first, and belong to the last.
  struct Ends {
    std::size_t pack = 0, unpack = 0, request = 0, start = 0;
    Range receives = {};  ///< in requests_, under way
  };

  struct Arguments {
    void* at;
    int count;
    MPI_Datatype type;
    Rank peer;
    int tag;
  };

  enum class Kind { receive, send, synchronous_send };
  /// Consecutive requests: started by one call if they are persistent, else each by its arguments.
  struct Start {
    Kind kind = Kind::receive;
    bool is_immediate = false;
    std::size_t arguments = 0;  ///< position of the first one in arguments_, if they are immediate
    Range requests = {};        ///< in requests_
  };
  /// Constants of all messages of a plan.
  struct Making;

  void begin_request(Kind kind, bool is_immediate, const Arguments& arguments, MPI_Request* request) const;
  void start_batch(const Ends& before, const Ends& ends);
  /// @param count  of the messages of the batch, by peer, so far
  std::vector<Start> add_requests(std::span<const PlannedMessage> messages, Kind kind, std::map<Rank, int>& count,
                                  const Making& making);
  void add_batch(const PlannedBatch& batch, const Making& making);
  MessageType type_of_pieces(const PlannedMessage& message) const;
  void copy(std::size_t first, std::size_t last);

  Memory& memory_;
  MPI_Comm comm_;
  PlanBuffers buffers_;
  std::vector<LocalCopy> copies_;  ///< blocks to self, then of each batch gathering and scattering
  OwnRequests requests_;
  std::vector<Start> starts_;
  std::vector<Arguments> arguments_;  ///< of immediate requests
  std::vector<MessageType> types_;    ///< of the same
  std::vector<Ends> ends_;            ///< of the copies to self, then of each batch
  std::vector<std::size_t> planned_;  ///< by batch, its number in the plan
  std::size_t current_ = 0;
};

}  // namespace commpass
