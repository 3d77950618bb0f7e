// Messages of sparse exchanges: sends within the limits of messages in flight, and receives that are found by probing.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/execute/send_limits.hpp"
#include "runtime/mpi/own_requests.hpp"
#include "runtime/sparse/parcel.hpp"

namespace commpass {

/// Where there are more than may be in flight, all are synchronous: one that is complete has arrived, and makes room
/// for the next. They need no other rank but their receivers, which must probe or have posted their receives.
class LimitedSends {
 public:
  enum class Mode { standard, synchronous };

  LimitedSends(MPI_Comm comm, int tag, SendLimits limits) : comm_(comm), tag_(tag), limits_(std::move(limits)) {}

  /// Allocates what this number of further messages needs. @throws std::bad_alloc
  void reserve(std::size_t messages);
  /// One more, in order; its bytes must stay until it is complete.
  void add(const void* at, int count, Rank peer) { queue_.push_back({at, count, peer}); }
  /// Begins as many as the limits allow. @throws MpiError
  void begin(Mode mode);
  /// Does none wait for room?
  bool all_have_begun() const { return requests_.size() == queue_.size(); }
  /// Moves on without waiting. @return are all complete? @throws MpiError
  bool progress();

 private:
  struct Send {
    const void* at;
    int count;
    Rank peer;
  };
  void post();

  MPI_Comm comm_;
  int tag_;
  SendLimits limits_;
  Mode mode_ = Mode::standard;
  std::vector<Send> queue_;
  OwnRequests requests_;        ///< of those that have begun, the first of the queue
  std::vector<int> completed_;  ///< room for their numbers
  int in_flight_ = 0, off_node_ = 0;
};

/// Sends parcels and takes in those of others, under a tag of their own. A parcel goes in pieces of `largest_piece`
/// bytes and a last one that is smaller, perhaps empty: so its receiver knows when it is complete, and sizes beyond an
/// MPI count pass.
class ProbedMail {
 public:
  using Mode = LimitedSends::Mode;

  /// @param comm           ours; nothing else is received there under this tag
  /// @param largest_piece  at least 1, the same on all ranks
  ProbedMail(MPI_Comm comm, int tag, Bytes largest_piece, const SendLimits& limits = {})
      : comm_(comm), tag_(tag), largest_piece_(largest_piece), sends_(comm, tag, limits) {}
  ~ProbedMail();
  ProbedMail(const ProbedMail&) = delete;
  ProbedMail& operator=(const ProbedMail&) = delete;

  /// Begins to send parcels, which must stay until all_sent(). @throws std::bad_alloc, and nothing has been sent;
  /// MpiError
  void send(std::span<const Outgoing> parcels, Mode mode);
  /// The number of messages of a parcel of `bytes` bytes.
  std::int64_t pieces_of(std::size_t bytes) const { return static_cast<std::int64_t>(bytes) / largest_piece_ + 1; }
  /// Have all sends completed? Synchronous ones have when their receivers have found them.
  bool all_sent() { return sends_.progress(); }

  /// Takes in the messages that are here, also those that there is no memory for. @return how many have been found so
  /// far
  /// @throws std::bad_alloc, and it may be called again; MpiError
  std::int64_t receive();
  /// Has everything that was found arrived?
  bool all_received();
  /// The parcels, those of one peer in the order in which it sent them. After all_received(). @throws std::bad_alloc
  std::vector<Parcel> take();

 private:
  struct Piece {
    Rank peer = 0;
    std::shared_ptr<std::byte[]> memory;  ///< none: it is lost
    Bytes bytes = 0;
  };

  static Parcel joined(std::span<const Piece* const> pieces);

  MPI_Comm comm_;
  int tag_;
  Bytes largest_piece_;
  LimitedSends sends_;
  std::vector<MPI_Request> receives_;
  std::vector<Piece> pieces_;  ///< in the order in which they were found
};

}  // namespace commpass
