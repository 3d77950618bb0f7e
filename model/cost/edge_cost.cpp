#include "model/cost/edge_cost.hpp"

#include <algorithm>

namespace commpass {

Bytes bytes_worth_an_edge(const Machine& machine) {
  constexpr Bytes least = 64;  // also where copies were not measured: a piece takes a cache line
  constexpr int copies = 2;
  const auto* network = machine.host.find(Locality::network);
  if (!network || network->protocols.back().beta_s_per_byte <= 0) return least;
  return std::max(
      least, static_cast<Bytes>(copies * machine.copy_block_s.value_or(0) / network->protocols.back().beta_s_per_byte));
}

}  // namespace commpass
