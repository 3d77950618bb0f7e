#include "runtime/choose/warn_once.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>

namespace commpass {

namespace {

std::atomic<bool> is_silent = false;  // NOLINT: of the process

}  // namespace

void silence_warnings() noexcept { is_silent = true; }

void warn_once(const std::string& text, Rank rank) {
  if (is_silent) return;
  static std::mutex mutex;  // programs may have threads
  static std::set<std::string> told;
  const std::scoped_lock lock(mutex);
  // fmt::print would throw where stderr is closed, and all ranks would fail for a warning.
  if (rank == 0 && told.insert(text).second) std::fputs(("commpass: " + text + "\n").c_str(), stderr);
}

}  // namespace commpass
