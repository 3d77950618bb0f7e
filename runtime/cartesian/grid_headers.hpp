// Headers that no rank has to be told on a grid: with the same neighbourhood everywhere, each rank knows its arrivals.
#pragma once

#include <span>

#include "model/route/grid_way.hpp"
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

}  // namespace commpass
