// What a rank sends and gets in one stage of a sparse dynamic data exchange.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "model/base/types.hpp"

namespace commpass {

/// Bytes for a peer; whose memory it is, is known where it is made.
struct Outgoing {
  Rank peer = 0;
  std::span<const std::byte> bytes;
};

/// Bytes that a peer has sent, in memory of their own; none, and no bytes, if there was no memory for them.
struct Parcel {
  Rank peer = 0;
  std::shared_ptr<const std::byte[]> memory;
  std::span<const std::byte> bytes;
};

/// Memory that is not set to anything. @throws std::bad_alloc
inline std::shared_ptr<std::byte[]> memory_for(Bytes bytes) {
  return std::shared_ptr<std::byte[]>(new std::byte[static_cast<std::size_t>(bytes)]);
}

/// The same, or none.
inline std::shared_ptr<std::byte[]> memory_if_any(Bytes bytes) noexcept {
  try {
    return memory_for(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace commpass
