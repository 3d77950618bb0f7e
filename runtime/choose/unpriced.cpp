#include "runtime/choose/unpriced.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <mutex>
#include <set>

#include "model/cost/cost.hpp"

namespace commpass {

std::string why_unpriced(const Layout& layout, const Machine& machine) {
  const auto missing = missing_parameters(layout, machine);
  return missing ? fmt::format("profile {}: {}; {}.", machine.name, missing->what, missing->remedy) : std::string();
}

void warn_unpriced(const std::string& why, Rank rank) {
  static std::mutex mutex;  // programs may have threads
  static std::set<std::string> told;
  const std::scoped_lock lock(mutex);
  if (rank != 0 || !told.insert(why).second) return;
  const auto line = fmt::format(
      "commpass: no strategy is chosen, but exchanges run {}, all-to-alls that are called once {}, and sparse "
      "exchanges {}: {}\n",
      unpriced_exchange, unpriced_alltoallv, unpriced_sparse, why);
  std::fputs(line.c_str(), stderr);  // fmt::print would throw where stderr is closed
}

}  // namespace commpass
