// Closed form of exchanges with a Cartesian neighbourhood: on a torus all ranks do the same, so one node stands for
// all.
#pragma once

#include <memory>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/pattern/neighbor_bytes.hpp"
#include "model/route/grid_way.hpp"

namespace commpass {

/// Messages of the ranks of the central node of the grid, whatever the number of ranks. A message that leaves the
/// node counts as one that arrives there, too. Where nodes are no like parts of the grid, or the grid has edges, others
/// may send less or more over the network.
class NeighborhoodSchedule {
 public:
  /// @param layout  of as many ranks as the grid, on() the machine that prices it
  /// @throws InputError if it has another number
  NeighborhoodSchedule(const Neighborhood& neighborhood, const GridWay& way, const NeighborBytes& sizes,
                       const Layout& layout);
  ~NeighborhoodSchedule();
  NeighborhoodSchedule(NeighborhoodSchedule&&) noexcept;
  NeighborhoodSchedule& operator=(NeighborhoodSchedule&&) noexcept;

  /// Of the ranks of the node.
  const Schedule& of_node() const;
  /// Predicts the exchange with blocks `times` as large. @throws InputError, as evaluate()
  Cost evaluate(Bytes times, Window window, const Machine& machine, CostModel model = CostModel::burst) const;

 private:
  struct Node;
  std::unique_ptr<Node> node_;
};

}  // namespace commpass
