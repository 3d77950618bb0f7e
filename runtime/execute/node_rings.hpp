// Rings of chunks between the ranks of a node, in memory that they share.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/base/types.hpp"
#include "runtime/context.hpp"
#include "runtime/execute/landing_slot.hpp"
#include "runtime/mpi/node_memory.hpp"

namespace commpass {

/// A ring of chunks from each rank of a node to each other one, in memory of the receiver. The sender fills chunks in
/// order, as far as there is room; the receiver takes them out in order. Memory does not grow with messages: a long one
/// goes chunk by chunk. A chunk begins with its number, which is the flag; the rest of its first cache line has a
/// header, and parts of messages lie behind that header or that line.
///
/// Why no byte is read too early or overwritten too late:
/// - Each ring has one sender and one receiver. Either counts the chunks for itself, from 0; chunk c lies at place c
/// mod
///   `chunks_of_ring`.
/// - The sender writes chunk c, then raises the chunk's number to c + 1 (release). The receiver reads nothing of chunk
/// c
///   before it has read c + 1 there (acquire). At this place numbers only grow, by `chunks_of_ring` each time, and the
///   next one is not written before the receiver has taken c out. So it reads the whole chunk c, and no other one.
/// - The receiver copies chunk c out, then raises the ring's number of chunks taken to c + 1 (release). The sender
/// fills
///   chunk c + `chunks_of_ring`, the next one at this place, after it has read c + 1 or more there (acquire). So its
///   writes come after the receiver's reads.
/// - Memory that is given away is zero, on all ranks before any of them knows its place (NodeMemory::take), and numbers
///   begin at 1: no earlier contents are taken for a chunk.
/// - The owner gives the memory back when it has taken out the last chunk of all senders and no exchange is in flight:
///   a sender writes nothing after the number of its last chunk. After a failure it never gives it back (abandon).
/// SharedNumber says why these atomics order processes.
class NodeRings {
 public:
  /// Collective, blocks.
  /// @return null on all ranks if those of a node share no memory, or none is left: rank 0 says so once
  /// @throws Error, the same on every rank
  static std::unique_ptr<NodeRings> share(const Context& context);

  /// Is the rank another one of this node? An equivalence: the same for both, and all such ranks reach each other.
  bool reach(Rank peer) const { return numbers_[static_cast<std::size_t>(peer)] >= 0; }
  /// All ranks but this one?
  bool reach_all() const { return reached_.size() + 1 == numbers_.size(); }
  /// The ranks that are reached, ascending.
  const std::vector<Rank>& reached() const { return reached_; }

  /// The number of a rank that is reached among those of the node, and how many these are, with this one.
  std::size_t number_of(Rank peer) const { return static_cast<std::size_t>(numbers_[static_cast<std::size_t>(peer)]); }
  std::size_t ranks_of_node() const { return outgoing_.size(); }

  /// What one end knows of a ring.
  struct End {
    std::byte* ring = nullptr;
    std::uint64_t chunks = 0;  ///< that it has filled, or taken out
    std::uint64_t taken = 0;   ///< of the sender: the last number that it has read
  };
  // Of the rings to and from a rank that is reached:
  End& outgoing(Rank peer) { return outgoing_[number_of(peer)]; }
  End& incoming(Rank peer) { return incoming_[number_of(peer)]; }

  /// How many bytes precede a part of a message in its chunk: short messages follow the header in the same cache line;
  /// a part of others begins with the next one, so that whole lines are written, which need not be read before.
  /// @param header  its bytes, those of the number among them
  static constexpr Bytes bytes_before(Bytes message, std::size_t header) {
    const auto own = static_cast<Bytes>(header);
    return message <= LandingSlot::line - own ? own : LandingSlot::line;
  }
  /// The bytes that a chunk has after its first line.
  Bytes part_bytes() const { return part_bytes_; }
  /// The next chunk of a sender; null: there is no room.
  std::byte* room(End& end) const {
    if (end.chunks - end.taken == chunks_of_ring) {
      end.taken = taken_of(end).value();
      if (end.chunks - end.taken == chunks_of_ring) return nullptr;
    }
    return chunk(end);
  }
  /// The chunk that room() gave is filled.
  void fill(End& end) const {
    const SharedNumber flag(chunk(end));
    flag.raise(++end.chunks);
  }
  /// The next chunk of a receiver; null: it is not there.
  const std::byte* next(const End& end) const {
    auto* const at = chunk(end);
    return SharedNumber(at).has_reached(end.chunks + 1) ? at : nullptr;
  }
  /// The chunk that next() gave has been copied out.
  void take_out(End& end) const { taken_of(end).raise(++end.chunks); }

  /// After a failure: never gives the memory back, to which other ranks may still write.
  void abandon() noexcept {
    range_->keep();
    is_abandoned_ = true;
  }
  bool is_abandoned() const { return is_abandoned_; }

 private:
  static constexpr std::uint64_t chunks_of_ring = 8;
  explicit NodeRings(const Context& context);
  std::byte* chunk(const End& end) const {
    return end.ring + LandingSlot::line + static_cast<Bytes>(end.chunks % chunks_of_ring) * chunk_bytes_;
  }
  /// The number of chunks that were taken out is the begin of the ring, in a line of its own.
  static SharedNumber taken_of(const End& end) { return SharedNumber(end.ring); }

  std::vector<Rank> numbers_;  ///< on the node, by rank of the communicator; negative: not reached
  std::vector<Rank> reached_;
  Bytes part_bytes_, chunk_bytes_, ring_bytes_;
  std::optional<NodeMemory::Range> range_;
  std::vector<End> outgoing_, incoming_;  ///< by number on the node
  bool is_abandoned_ = false;
};

}  // namespace commpass
