// Headers that no rank has to be told on a grid: with the same neighbourhood everywhere, each rank knows its arrivals.
#pragma once

#include <span>

#include "model/route/grid_way.hpp"
#include "runtime/plan/headers.hpp"

namespace commpass {

/// A HeaderSource for coalesced messages of a GridRoute. It needs no MPI, and believes that all ranks have the same
/// sizes.
class GridHeaders {
 public:
  /// @param travel  must outlive this
  GridHeaders(const GridTravel& travel, Rank rank) : travel_(travel), rank_(rank) {}

  Headers operator()(int stage, const Departures&, std::span<const Block>) const {
    Headers headers;
    for (const auto& [from, travellers] : travel_.arrivals(rank_, stage)) {
      auto& incoming = headers.incoming.emplace_back();
      incoming.from = from;
      incoming.blocks.reserve(travellers.size());
      for (const auto& traveller : travellers) incoming.blocks.push_back(traveller.block);
    }
    return headers;
  }

 private:
  const GridTravel& travel_;
  Rank rank_;
};

}  // namespace commpass
