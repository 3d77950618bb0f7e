// Copies within a rank's memory, in one place, so that a simulation can charge them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace commpass {

struct LocalCopy {
  const std::byte* from;
  std::byte* to;
  std::size_t bytes;
};

/// Copies one after another. Source and target of a copy do not overlap.
void local_copy(std::span<const LocalCopy> copies);

/// As above, for one copy; where there are no bytes, there may be no memory.
inline void copy_bytes(const std::byte* from, std::byte* to, std::int64_t bytes) {
  if (bytes == 0) return;
  const LocalCopy copy{from, to, static_cast<std::size_t>(bytes)};
  local_copy({&copy, 1});
}

}  // namespace commpass
