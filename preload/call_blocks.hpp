// What the arguments of a collective say of the blocks that a rank sends. Local.
#pragma once

#include <mpi.h>

#include "preload/sent_blocks.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

/// Of alltoall.
void add_equal(SentBlocks& sent, int count, MPI_Datatype type);

/// One side of an alltoallv: elements for each rank, or of each.
struct Counts {
  const int* counts;
  MPI_Datatype type;
};
/// @param sends  in place the same as receives
void add_counts(SentBlocks& sent, MPI_Comm comm, Counts sends, Counts receives);

/// One side of an alltoallw.
struct TypedCounts {
  const int* counts;
  const MPI_Datatype* types;
};
void add_typed(SentBlocks& sent, MPI_Comm comm, TypedCounts sends, TypedCounts receives);

/// Of neighborhoods: as much to each, so much for each, elements of a type for each.
void add_neighbors(SentBlocks& sent, const Neighbors& neighbors, int count, MPI_Datatype type);
void add_neighbor_counts(SentBlocks& sent, const Neighbors& neighbors, Counts sends, const int* receive_counts);
void add_neighbor_typed(SentBlocks& sent, const Neighbors& neighbors, TypedCounts sends, const int* receive_counts);

/// In place a rank sends as much as it gets.
template <class Side>
Side in_place_or(const void* sendbuf, const Side& sends, const Side& receives) {
  return sendbuf == MPI_IN_PLACE ? receives : sends;
}

}  // namespace commpass
