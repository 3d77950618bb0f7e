// Plans an exchange with a Cartesian neighbourhood on one rank alone. Private to the runtime.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/pattern/neighborhood.hpp"
#include "model/route/strategy.hpp"
#include "runtime/cartesian/cart_neighborhood.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/typed_blocks.hpp"

namespace commpass {

/// The blocks of one side in the order of neighbours.
struct CartBlocks {
  void* buffer = nullptr;  ///< the user's; a send buffer is only read
  TypedBlocks blocks;

  std::vector<Bytes> bytes() const {
    std::vector<Bytes> result;
    for (std::size_t i = 0; i < blocks.size(); ++i) result.push_back(blocks.bytes(i));
    return result;
  }
};

/// What a rank gives to an exchange.
struct CartBuffers {
  CartBlocks sends, receives;
  bool is_same = false;  ///< all neighbours get the first block of `sends`, of which all are copies
};

class ToldTravel;

/// How an exchange is run.
struct CartPlan {
  Strategy strategy;
  const ToldTravel* told = nullptr;  ///< of a strategy that is no way on the grid
  std::optional<Seconds> predicted_s;
  Context::Address address;    ///< on which communicator, with which tag
  bool counts_differ = false;  ///< from rank to rank: then planning is collective, and headers travel
  bool is_for_once = false;    ///< not worth to look where in types with gaps the bytes lie: they are packed

  bool may_stay() const { return !counts_differ && !is_for_once; }
};

/// @param place  for errors: "alltoallv"
/// @throws InputError, if the bytes for a neighbour are not as many as those from its opposite; MpiError
CartExchange plan_cart_exchange(const std::shared_ptr<Context>& context, const Neighborhood& neighborhood,
                                const CartBuffers& buffers, const CartPlan& plan, const std::string& place);

}  // namespace commpass
