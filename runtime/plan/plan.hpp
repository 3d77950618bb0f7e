// The part of a schedule that one rank executes: what it copies, sends and receives, batch after batch.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "model/route/route.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// Bytes of the send buffer that `destination` gets. Edges of a rank with the same offset and size have the same bytes:
/// as far as they go the same way, these travel once. Of edges that overlap otherwise, each travels on its own.
struct SendEdge {
  Rank destination = 0;
  Bytes offset = 0;  ///< in the send buffer
  Bytes bytes = 0;
  bool operator==(const SendEdge&) const = default;
};

/// Bytes of the receive buffer that come from `source`.
struct ReceiveEdge {
  Rank source = 0;
  Bytes offset = 0;  ///< in the receive buffer
  Bytes bytes = 0;
  bool operator==(const ReceiveEdge&) const = default;
};

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

/// Bytes of a message that lie, or belong, together in memory.
struct Piece {
  Bytes offset = 0;  ///< in the message
  Place place;
  Bytes bytes = 0;
};

/// A message as this rank sees it. How its pieces move is left to what runs it: those of one that is sent are brought
/// together, and those of one that has come go to their places, by copies or as a derived datatype.
struct PlannedMessage {
  Rank peer = 0;
  Place place;  ///< where all of it lies or belongs, or where its pieces are together for the time of its batch
  Bytes bytes = 0;
  std::vector<Piece> pieces{};  ///< those that lie or belong elsewhere
  bool is_forwarded = false;    ///< is part of it sent on from `place`?

  /// Do its pieces lie or belong in the user's buffer, each byte in one place and nowhere else? Then they may stay
  /// there. Others are brought together before the receives of the batch, which may use their places. What a block
  /// brings to its destination may be sent on as the bytes of another one, too.
  bool may_stay_in_pieces() const;
};

/// What is done at once: pieces are brought together, then all receives and sends, then pieces go to their places.
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

/// Plans an exchange. Headers of the blocks travel the route ahead of the data, so every rank learns what it forwards
/// and where everything that it receives comes from; where each message goes straight to its destination, the edges of
/// both ends tell that, and no headers travel. Collective over `comm`, which must not be used by others meanwhile;
/// where headers travel it needs an int for every rank.
/// @param route    the same on every rank
/// @param sends    the k-th edge to a rank is that rank's k-th edge from this one; edges of 0 bytes move nothing
/// @throws Error, the same on every rank, if the edges of any two ranks do not match
Plan make_plan(MPI_Comm comm, const Route& route, Window window, std::span<const SendEdge> sends,
               std::span<const ReceiveEdge> receives, Coalescing coalescing = Coalescing::coalesced);

}  // namespace commpass
