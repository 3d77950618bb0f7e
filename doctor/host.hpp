// The facts of a host: its processors and memory, their noise, and the allocation of large blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

struct Host {
  std::string processor;            ///< its model; empty: not told
  int cpus = 0;                     ///< online; 0: not told
  std::optional<double> quota;      ///< processors that may be used at a time (control group); nothing: all
  std::optional<double> load;       ///< mean number of processes that ran or waited to, in the last minute
  std::string governor;             ///< of the frequency; empty: not told
  std::optional<int> ptrace_scope;  ///< of the kernel: 0 lets ranks read each other's memory
};

/// @param root  in front of /proc and /sys, for tests
Host read_host(const std::string& root = "");

/// Processor time that all processes of the host have used since it was started; nothing if the system does not tell.
std::optional<Seconds> used_by_all(const std::string& root = "");
/// Processor time of this process alone.
Seconds used_by_this_process();

/// The processors on which this process may run, ascending; empty: not told.
std::vector<int> allowed_cpus();

struct Noise {
  double lost = 0;      ///< share of the time beyond what the quick tenth of the pieces takes
  Seconds longest = 0;  ///< by which one piece took longer than the quick tenth
};

/// Fixed-work-quantum test: runs pieces of about 20 us for so long.
Noise measure_noise(Seconds duration);

/// The least difference between two readings of the clock that times are taken with.
Seconds clock_resolution();

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
