// A sample of an exchange with a Cartesian neighbourhood: on a torus all ranks do the same, so one node stands for all.
#pragma once

#include <memory>

#include "model/cost/sample.hpp"
#include "model/pattern/neighbor_bytes.hpp"
#include "model/route/route.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// All that passes through the ranks of the central node of the grid, whatever the number of ranks: of the ranks of the
/// nodes that hold its blocks, in numbers of their own.
struct NeighborhoodPart {
  std::unique_ptr<Route> route;
  Layout layout;      ///< on() the machine
  int node;           ///< the central one, in that layout
  SampledPart part;   ///< its ranks among all
  Schedule schedule;  ///< with all of a stage in flight at once
};

/// @param strategy  a way on the grid (grid_way)
/// @param layout    of as many ranks as the grid
/// @throws InputError if it has another number, NotApplicable
NeighborhoodPart part_of_neighborhood(const Neighborhood& neighborhood, const Strategy& strategy,
                                      const NeighborBytes& sizes, const Layout& layout, const Machine& machine);

/// The sample of the central node. Where nodes are no like parts of the grid, or the grid has edges, others may send
/// less or more over the network; of that no error is told.
Sample sample_of(const NeighborhoodPart& part);

}  // namespace commpass
