// What message combining makes of a neighbourhood, in numbers (Cartesian paper, §3), on grids that are large enough.
#pragma once

#include <cstdint>
#include <vector>

#include "model/pattern/neighborhood.hpp"

namespace commpass {

/// The zero offset counts nowhere: its block is copied.
struct CombiningCounts {
  int neighbors = 0;                 ///< t, the messages and blocks that a rank sends without combining
  std::vector<int> rounds_of;        ///< C_k: the different coordinates but 0 in each dimension
  int rounds = 0;                    ///< C, their sum: the messages of a rank
  std::int64_t alltoall_volume = 0;  ///< V: how many blocks a rank sends, those of others among them
};

CombiningCounts combining_counts(const Neighborhood& neighborhood);

/// Below how many bytes of a block message combining takes less time in an alltoall than a message for each neighbour,
/// if a message of s bytes takes α + β·s: α/β·(t − C)/(V − t). Infinite where no block has more than one hop, unless
/// nothing is combined: then 0.
double combining_cut_off(const CombiningCounts& counts, double alpha_s, double beta_s_per_byte);

/// The dimensions in order of increasing C_k, in which the paper constructs allgather trees; like ones in their order.
std::vector<std::size_t> increasing_dimensions(const Neighborhood& neighborhood);

/// The edges of the allgather tree: how often a rank sends the block of any rank, if the coordinates are corrected in
/// this order.
std::int64_t tree_edges(const Neighborhood& neighborhood, const std::vector<std::size_t>& order);

}  // namespace commpass
