// The blocks that pass through a rank under a strategy that is no way on the grid. Private to the runtime.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/pattern/neighbor_bytes.hpp"
#include "model/route/route.hpp"
#include "model/route/strategy.hpp"
#include "runtime/context.hpp"
#include "runtime/plan/headers.hpp"

namespace commpass {

/// A route, and the arrivals at this rank in each of its stages. Which blocks take which way does not depend on their
/// sizes, so ranks tell each other once, and each plans exchanges with any sizes alone.
class ToldTravel {
 public:
  /// Collective.
  /// @param strategy  one that can be told (selector/choose/neighborhood_choice.hpp), the same on every rank
  /// @throws Error, the same on every rank
  ToldTravel(const Context& context, const Neighborhood& neighborhood, const Strategy& strategy);

  const Route& route() const { return *route_; }
  /// The arrivals of a stage, if neighbours get `sizes`: a HeaderSource's answer.
  Headers headers(int stage, const NeighborBytes& sizes, std::span<const std::int32_t> indices) const;

 private:
  struct Traveller {
    Rank source = 0, destination = 0;
    int neighbor = 0;
  };
  struct Arrival {
    Rank from = 0;
    std::vector<Traveller> travellers;  ///< in the order of the message
  };

  std::unique_ptr<Route> route_;
  std::vector<std::vector<Arrival>> stages_;
};

}  // namespace commpass
