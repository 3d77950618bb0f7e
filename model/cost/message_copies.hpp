// What copying the pieces of messages takes. Private to the burst model.
#pragma once

#include <cstdint>
#include <limits>

#include "model/machine/machine.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

/// Pieces that are copied at one end of a message.
struct CopiedPieces {
  Rank rank = 0;
  Bytes bytes = 0;
  std::uint32_t pieces = 0;
  bool are_users = false;  ///< do all of them lie in the user's buffer, and once?
  bool are_added = false;  ///< to the values in their places
};

inline CopiedPieces packed(const Message& m) { return {m.from, m.bytes, m.packed_pieces, m.is_all_from_sender}; }
inline CopiedPieces unpacked(const Message& m) {
  return {m.to, m.unpacked_bytes, m.unpacked_pieces, m.is_all_for_receiver, m.is_added};
}

/// Do copies take any time?
inline bool copies_cost(const Machine& machine) {
  return machine.copy_block_s.value_or(0) > 0 || machine.copy_call_s > 0 ||
         machine.copy_rate_bytes_per_s < std::numeric_limits<double>::infinity() || machine.reduction_rate_bytes_per_s;
}

inline Seconds copying_seconds(const Machine& machine, const CopiedPieces& copied, bool may_use_datatypes) {
  const double bytes = static_cast<double>(copied.bytes);
  if (copied.are_added) return reduction_seconds(machine, bytes, copied.pieces);
  return copied.are_users && may_use_datatypes && is_datatype_cheaper(machine, bytes, copied.pieces)
             ? *datatype_seconds(machine, bytes, copied.pieces)
             : copying_seconds(machine, bytes, copied.pieces);
}

/// What the pieces at one end of a message cost besides the message: a protocol that copies them itself copies the
/// first one, and their bytes, as part of it. Where some are forwarded from one place, the others are copied once more.
/// @param bytes  of the message
inline Seconds copying_seconds(const Machine& machine, const CopiedPieces& copied, bool may_use_datatypes,
                               const Protocol& protocol, Bytes bytes) {
  if (!protocol.copies_pieces || copied.are_added) return copying_seconds(machine, copied, may_use_datatypes);
  return copied.bytes == bytes ? copying_seconds(machine, 0, copied.pieces - 1.0)
                               : copying_seconds(machine, copied, false);
}

}  // namespace commpass
