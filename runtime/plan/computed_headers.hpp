// What comes to a rank in exchanges between all pairs of ranks, without asking them.
#pragma once

#include <span>
#include <vector>

#include "model/route/strategy.hpp"
#include "runtime/plan/headers.hpp"
#include "runtime/plan/stage_walk.hpp"

namespace commpass {

/// A HeaderSource where every rank has one block for every other one: each rank follows all of them along the route.
/// So nobody waits for anybody, but it takes time for each pair of ranks, some 10 ns for each stage.
class ComputedHeaders {
 public:
  /// @param own  with a route that depends on no pattern and cuts nothing
  /// @throws std::bad_alloc
  explicit ComputedHeaders(const RouteOfRank& own);

  Headers operator()(int stage, const Departures& departures, std::span<const Block> held);

 private:
  std::vector<Headers> of_stage_;
};

}  // namespace commpass
