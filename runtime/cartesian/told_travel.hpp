// Headers of exchanges on a grid: those that each rank computes, and those that ranks have told each other once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/pattern/neighbor_bytes.hpp"
#include "model/pattern/neighborhood.hpp"
#include "model/route/grid_way.hpp"
#include "model/route/route.hpp"
#include "model/route/strategy.hpp"
#include "runtime/context.hpp"
#include "runtime/plan/headers.hpp"

namespace commpass {

/// A HeaderSource for coalesced messages of a GridRoute. It needs no MPI, and believes that all ranks have the same
/// sizes. @param travel  must outlive it
inline HeaderSource grid_headers(const GridTravel& travel, Rank rank) {
  return [&travel, rank](int stage, const Departures&, std::span<const Block>) {
    Headers headers;
    for (const auto& [from, travellers] : travel.arrivals(rank, stage)) {
      auto& incoming = headers.incoming.emplace_back();
      incoming.from = from;
      incoming.blocks.reserve(travellers.size());
      for (const auto& traveller : travellers) incoming.blocks.push_back(traveller.block);
    }
    return headers;
  };
}

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
