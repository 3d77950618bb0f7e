// What the MPI library's own call costs where it was not measured: the messages of the algorithm that it takes.
#pragma once

#include <functional>
#include <span>
#include <vector>

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

/// What MPI_Alltoall takes by each of the library's algorithms, of which a candidate's `library` is one.
std::vector<Candidate> price_algorithms(std::span<const LibraryAlgorithm> algorithms, double block_bytes,
                                        const Layout& layout, const Machine& machine);

/// Makes the pricer of strategies on a machine, which lives as long as it.
/// @param algorithm  the library's, whose messages are priced; null: strategies of ours are
using PricerOn = std::function<Pricer(const Machine& machine, const LibraryAlgorithm* algorithm)>;

/// Was the library's call measured that runs such an exchange?
bool is_measured(const LibraryExchange& exchange, const Machine& machine, Usage usage);

/// A pricer that prices `mpi`, too, where its call was not measured: by the messages of the library's algorithm without
/// limits, the blocks that Bruck's algorithm turns in memory, and the visits of MPI_Alltoallv to ranks to which a rank
/// sends nothing. Under other models than burst that of the machine. The layout and the machine must live as long as
/// the result.
Pricer with_library_price(const PricerOn& price_on, const LibraryExchange& exchange, const Layout& layout,
                          const Machine& machine, CostModel model, Usage usage = Usage::planned);

}  // namespace commpass
