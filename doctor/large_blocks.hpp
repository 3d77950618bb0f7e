// What it takes a program to free large blocks of memory and to allocate them again.
#pragma once

#include <cstdint>
#include <optional>

#include "model/base/types.hpp"

namespace commpass {

/// glibc's thresholds (mallopt(3)), above which it returns freed memory to the system.
constexpr Bytes mmap_threshold = Bytes{32} << 20, trim_threshold = Bytes{1} << 30;

/// A round allocates some blocks, writes them and frees them all.
struct LargeBlocks {
  static constexpr int blocks = 4;
  static constexpr Bytes block_bytes = Bytes{4} << 20;

  struct Round {
    Seconds time_s = 0;  ///< of the fastest round
    std::int64_t page_faults = 0;
  };
  Round as_here;    ///< with malloc as programs find it
  Round keeps_all;  ///< with mmap_threshold and trim_threshold
};

/// Times both in child processes, whose memory nothing has touched yet. For a process of one thread.
/// @return nothing where a child cannot be started, or malloc is not glibc's
std::optional<LargeBlocks> time_large_blocks();

}  // namespace commpass
