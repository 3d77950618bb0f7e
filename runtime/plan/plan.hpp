// The part of a schedule that one rank executes: what it copies, sends and receives, batch after batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/route/route.hpp"
#include "runtime/edges.hpp"

namespace commpass {

/// A place in one of the four buffers of a plan.
struct Place {
  enum class Buffer : std::uint8_t { send, receive, transit, packing };
  Buffer buffer = Buffer::send;
  Bytes offset = 0;
};

struct PlannedCopy {
  Place from, to;
  Bytes bytes = 0;
};

/// Bytes of a message that are together in memory.
struct Piece {
  Bytes offset = 0;  ///< in the message
  Place place;
  Bytes bytes = 0;
};

/// A message as this rank sees it. Pieces of a send are gathered, those of a receive are scattered, by copies or as a
/// derived datatype: the requests decide.
struct PlannedMessage {
  Rank peer = 0;
  Place place;  ///< of all of it, or of its gathered pieces during its batch
  Bytes bytes = 0;
  std::vector<Piece> pieces{};  ///< with other places
  bool is_forwarded = false;    ///< is part of it forwarded from `place`?

  /// Do all its bytes have one place each, in the user's buffer? Then MPI may move them by a derived datatype. Others
  /// are gathered before the receives of the batch, which may use their places. A block's bytes may be forwarded as
  /// those of another block, too.
  bool may_stay_in_pieces() const;
};

/// Messages that are in flight at once: pieces are gathered, then all receives and sends run, then pieces are
/// scattered.
struct PlannedBatch {
  int stage = 0;
  std::vector<PlannedMessage> receives, sends;
};

/// A plan, still without buffers and requests.
struct Plan {
  std::vector<PlannedBatch> batches;
  std::vector<PlannedCopy> self;  ///< from the send to the receive buffer
  Bytes transit_bytes = 0;        ///< size of the buffer for blocks in transit
  Bytes packing_bytes = 0;        ///< size of the buffer for messages being sent
};

/// The payload of each edge: edges with the same offset and size in the send buffer have the same number, all others
/// none.
std::vector<Payload> payloads_of(std::span<const SendEdge> sends);

}  // namespace commpass
