#include "model/cost/telling_cost.hpp"

#include "model/cost/models.hpp"

namespace commpass {

Seconds telling_seconds(const Route& route, const Layout& layout, const Machine& machine, CostModel model) {
  constexpr Bytes size_bytes = 8;
  if (route.stages().size() < 2) return 0;
  const auto sizes = estimate_alltoall(size_bytes, route, {}, layout, without_copies(machine), model);
  Seconds seconds = 0;
  for (std::size_t stage = 0; stage + 1 < sizes.stages.size(); ++stage) seconds += sizes.stages[stage].seconds;
  return seconds;
}

}  // namespace commpass
