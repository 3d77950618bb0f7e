// The strategies for classes of sizes with a Cartesian neighbourhood: one choice, the same on every rank. Private to
// the runtime.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/cartesian/cart_neighborhood.hpp"
#include "runtime/cartesian/told_travel.hpp"
#include "runtime/context.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/neighborhood_choice.hpp"

namespace commpass {

struct CartChoice {
  struct Class {
    double from_bytes = 0;
    Strategy strategy;
    std::optional<Seconds> predicted_s;
    std::shared_ptr<const ToldTravel> told{};  ///< of one that is no way on the grid, if ranks can be told

    /// Can each rank plan it alone?
    bool is_local() const { return told || is_way_on_grid(strategy); }
  };
  /// By the mean size of blocks, of an alltoall and of an allgather; at least one class each.
  struct Classes {
    std::vector<Class> alltoall, allgather;

    const Class& choose(const std::vector<Bytes>& bytes, bool is_same) const;
    bool are_all_local() const;
    /// Does any send messages through memory of a node, which ranks share together?
    bool share_memory() const;
  };
  Classes planned;
  Classes blocking;  ///< by messages alone: a rank may keep a plan that another one makes anew
  std::string explanation;
};

/// Rank 0 chooses, and all get that; of strategies that are no way on the grid ranks learn their forwarded blocks. With
/// weights, blocks are priced whose sizes are like them. Collective.
/// @throws Error, the same on every rank
CartChoice choose_for_neighborhood(const Context& context, const Neighborhood& neighborhood,
                                   const CartOptions& options);

}  // namespace commpass
