// What a rank sends and gets in one stage of a sparse dynamic data exchange.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "model/types.hpp"

namespace commpass {

/// Bytes for a peer; whose memory it is, is known where it is made.
struct Outgoing {
  Rank peer = 0;
  std::span<const std::byte> bytes;
};

/// Bytes that a peer has sent, in memory of their own.
struct Parcel {
  Rank peer = 0;
  std::shared_ptr<const std::byte[]> memory;
  std::span<const std::byte> bytes;
};

}  // namespace commpass
