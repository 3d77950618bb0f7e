// Blocks that share a parcel of a sparse exchange: each has a header before its bytes.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

#include "model/base/types.hpp"

namespace commpass {

/// The header before a block.
struct FrameHeader {
  Rank source = 0, destination = 0;
  Bytes bytes = 0;
};

/// A block in a parcel.
struct FramedBlock {
  FrameHeader header;
  std::span<const std::byte> bytes;
};

/// Writes a header. @return where the bytes of its block go
inline std::byte* write_header(const FrameHeader& header, std::byte* at) {
  std::memcpy(at, &header, sizeof header);
  return at + sizeof header;
}

/// Takes the first block off the rest of a parcel. @return nothing at the end
/// @throws Error if the rest is no block between two of `ranks` ranks
std::optional<FramedBlock> next_block(std::span<const std::byte>& rest, int ranks);

}  // namespace commpass
