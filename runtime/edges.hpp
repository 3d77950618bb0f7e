// The edges of an exchange as one rank gives them: bytes to other ranks, and bytes from them.
#pragma once

#include "model/base/types.hpp"

namespace commpass {

/// Bytes of the send buffer that `destination` gets. Edges of a rank with the same offset and size have the same bytes,
/// which travel once along the common part of their routes. Edges that overlap otherwise travel each on their own.
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

}  // namespace commpass
