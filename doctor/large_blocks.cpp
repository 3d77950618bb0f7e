#include "doctor/host.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace commpass {

namespace {

using Round = LargeBlocks::Round;

std::int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// @return is all memory there?
bool run_round(Round& round) {
  constexpr auto bytes = static_cast<std::size_t>(LargeBlocks::block_bytes);
  const auto faults_before = page_faults();
  const auto begin = std::chrono::steady_clock::now();
  std::array<void*, LargeBlocks::blocks> blocks{};
  for (auto*& block : blocks) {
    block = std::malloc(bytes);  // NOLINT(cppcoreguidelines-no-malloc): it is malloc that is timed
    if (!block) return false;
    std::memset(block, 1, bytes);
    asm volatile("" : : "r"(block) : "memory");  // the compiler cannot leave it out
  }
  for (auto* const block : blocks) std::free(block);  // NOLINT(cppcoreguidelines-no-malloc)
  round.time_s =
      std::min(round.time_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  round.page_faults = page_faults() - faults_before;
  return true;
}

/// In a process of its own.
std::optional<Round> time_rounds(bool keeps_all) {
  constexpr int rounds = 6;  // the first ones raise glibc's thresholds, and take all pages for the first time
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return {};
  const auto child = fork();
  if (child == 0) {
#ifdef __GLIBC__
    if (keeps_all) {
      mallopt(M_MMAP_THRESHOLD, static_cast<int>(mmap_threshold));
      mallopt(M_TRIM_THRESHOLD, static_cast<int>(trim_threshold));
    }
#endif
    Round round{std::numeric_limits<Seconds>::infinity(), 0};
    bool is_complete = true;
    for (int i = 0; i < rounds && is_complete; ++i) is_complete = run_round(round);
    const bool is_told = is_complete && write(ends[1], &round, sizeof round) == sizeof round;
    _exit(is_told ? 0 : 1);
  }
  close(ends[1]);
  Round round;
  const bool is_told = child > 0 && read(ends[0], &round, sizeof round) == sizeof round;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return is_told ? std::optional(round) : std::nullopt;
}

}  // namespace

std::optional<LargeBlocks> time_large_blocks() {
#ifdef __GLIBC__
  const auto as_here = time_rounds(false), keeps_all = time_rounds(true);
  if (as_here && keeps_all) return LargeBlocks{*as_here, *keeps_all};
#endif
  return {};
}

}  // namespace commpass
