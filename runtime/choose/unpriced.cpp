#include "runtime/choose/unpriced.hpp"

#include <fmt/core.h>

#include "model/cost/cost.hpp"
#include "runtime/choose/warn_once.hpp"

namespace commpass {

std::string why_unpriced(const Layout& layout, const Machine& machine) {
  const auto missing = missing_parameters(layout, machine);
  return missing ? fmt::format("profile {}: {}; {}.", machine.name, missing->what, missing->remedy) : std::string();
}

void warn_unpriced(const std::string& why, Rank rank) {
  warn_once(fmt::format("no strategy is chosen, but exchanges run {}, all-to-alls that are called once {}, and sparse "
                        "exchanges {}: {}",
                        unpriced_exchange, unpriced_alltoallv, unpriced_sparse, why),
            rank);
}

}  // namespace commpass
