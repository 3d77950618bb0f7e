#include "runtime/choose/warn_once.hpp"

#include <cstdio>
#include <mutex>
#include <set>

namespace commpass {

void warn_once(const std::string& text, Rank rank) {
  static std::mutex mutex;  // programs may have threads
  static std::set<std::string> told;
  const std::scoped_lock lock(mutex);
  // fmt::print would throw where stderr is closed, and all ranks would fail for a warning.
  if (rank == 0 && told.insert(text).second) std::fputs(("commpass: " + text + "\n").c_str(), stderr);
}

}  // namespace commpass
