// What the MPI library's own call costs where it was not measured: the messages of the algorithm that it takes.
#pragma once

#include <functional>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/block_sizes.hpp"
#include "model/pattern/pattern.hpp"
#include "model/route/library_algorithm.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// An exchange as a program would leave it to the MPI library.
struct LibraryExchange {
  LibraryFunction function = LibraryFunction::alltoall;
  double block_bytes = 0;       ///< of each block, on average
  double messages_of_rank = 0;  ///< ranks to which a rank sends something, on average
};

/// MPI_Alltoallv, or, of equal blocks, MPI_Alltoall of random blocks.
LibraryExchange library_exchange(const RandomPattern& blocks, const Layout& layout, BlockSizes sizes);
/// MPI_Alltoall where all blocks are there and equal; else the neighbourhood collective.
LibraryExchange library_exchange(const Pattern& pattern);

/// The machine without limits, which the library does not know.
Machine without_limits(Machine machine);

/// By which rule the library runs the exchange on the machine.
LibraryAlgorithm library_algorithm(const LibraryExchange& exchange, const Layout& layout, const Machine& machine);

/// What Bruck's algorithm takes beyond its messages: each rank turns its blocks in memory before and after.
Seconds turning_seconds(double block_bytes, const Layout& layout, const Machine& machine);

/// A pricer that prices `mpi`, too: by the messages of the library's algorithm, the blocks that Bruck's algorithm turns
/// in memory, and the visits of MPI_Alltoallv to ranks to which a rank sends nothing. The layout and the machine must
/// live as long as the result.
/// @param own         prices all other strategies
/// @param of_library  makes the pricer of the library's messages, which knows no limits (without_limits), when it is
/// needed. Where the library exchanges empty messages, of an exchange in which each pair has a block
Pricer with_library_price(Pricer own, std::function<Pricer(const LibraryAlgorithm&)> of_library,
                          const LibraryExchange& exchange, const Layout& layout, const Machine& machine);

}  // namespace commpass
