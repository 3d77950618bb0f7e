// Parcels of a stage of a sparse exchange between ranks of a node, through memory that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/execute/node_rings.hpp"
#include "runtime/sparse/parcel.hpp"
#include "runtime/sparse/sparse_tally.hpp"

namespace commpass {

/// The rings of a communicator's sparse exchanges, and how many stages have used them.
struct NodePost {
  std::unique_ptr<NodeRings> rings;
  std::uint64_t stages = 0;  ///< that have begun, the same on every rank
};

/// Sends parcels to partners on the node and takes in theirs. Receivers know nothing: each partner sends its parcels,
/// and says in the last one that it is the last; one that has none sends a chunk that says so.
///
/// Why stages of one exchange, and exchanges in flight, do not mix: all ranks begin the stages that use the rings in
/// one order, since only the oldest exchange in flight does (SparseEngine), one stage after another, and a rank ends a
/// stage when all of its own parcels are in their rings. Two ranks are partners of each other in a stage, or neither
/// is. So chunks of two ranks lie in their ring in the order of the stages, and the last parcel of a partner is its end
/// of a stage: a receiver reads no chunk behind it before its own next stage. A chunk of another stage would be a fault
/// of ours, and is found by the number of the stage that it begins with.
///
/// Why no rank waits forever: a ring has chunks of a later stage only when all chunks of earlier ones are in it. So of
/// the earliest stage that is not over on all ranks no chunk waits behind one that its receiver does not take, and all
/// ranks that are in it take and fill chunks whenever they wait.
class NodeMail {
 public:
  explicit NodeMail(NodePost& post) : post_(post) {}

  /// Takes memory for a stage. @throws std::bad_alloc
  /// @param partners  ranks of the node with whom this one may exchange parcels, ascending
  /// @param parcels   for some of these; their bytes stay until all has arrived
  void prepare(std::span<const Rank> partners, std::span<const Outgoing> parcels, Failures failures);

  /// Moves on without waiting; only in the oldest exchange in flight. @return is all sent, and has all arrived?
  /// @throws std::bad_alloc, and it may be called again; Error, if an exchange before it has failed
  bool progress();

  // When it is complete:
  std::vector<Parcel>& parcels() { return parcels_; }
  /// Of this rank and its partners, before the stage.
  Failures failures() const { return failures_; }

 private:
  /// Behind the number of a chunk, in each of them.
  struct Header {
    std::uint64_t stage = 0;  ///< its number
    Bytes bytes = 0;          ///< of the parcel; negative: there is none
    std::uint32_t is_last = 0, failures = 0;
  };
  static Bytes bytes_before(Bytes parcel);

  /// A partner, and parcels under way to and from it.
  struct Partner {
    Rank rank = 0;
    std::size_t next = 0, end = 0;  ///< its parcels that are not sent
    Bytes sent = 0;                 ///< of the first of these
    bool is_told = false;           ///< has the last chunk of this rank been filled?
    Bytes bytes = 0, rest = 0;      ///< of the parcel that is coming
    std::byte* to = nullptr;        ///< the rest of it; null: it is lost
    bool is_coming = false, is_last = false;
    bool is_heard = false;  ///< has its last chunk been taken out?
  };
  bool send(Partner& partner) const;
  bool receive(Partner& partner);
  void expect(Partner& partner, const Header& header);

  NodePost& post_;
  std::vector<Outgoing> sends_;  ///< by partner, in the order in which they were given
  std::vector<Partner> partners_;
  std::vector<Parcel> parcels_;
  Failures failures_;
  std::uint32_t told_failures_ = 0;
  std::uint64_t stage_ = 0;  ///< its number; 0: it has not begun
};

}  // namespace commpass
