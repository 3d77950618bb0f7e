// What the arguments of a collective say of the blocks that a rank sends, for each form of arguments one functor that
// adds them (Call::sends). Local.
#pragma once

#include <mpi.h>

#include "preload/sent_blocks.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

/// One side of an alltoallv: elements for each rank, or of each; of a neighborhood's: for each place.
struct Counts {
  const int* counts;
  MPI_Datatype type;
};

/// One side of an alltoallw.
struct TypedCounts {
  const int* counts;
  const MPI_Datatype* types;
};

/// Of alltoall, as much to everybody as comes from there.
struct EqualSends {
  int count;
  MPI_Datatype type;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};

/// Of alltoallv. In place a rank sends as much as it gets.
struct CountedSends {
  const void* sendbuf;
  Counts sends, receives;
  MPI_Comm comm;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};

/// Of alltoallw, alike.
struct TypedSends {
  const void* sendbuf;
  TypedCounts sends, receives;
  MPI_Comm comm;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};

/// Of neighborhoods: as much to each, so much for each, elements of a type for each.
struct NeighborSends {
  int count;
  MPI_Datatype type;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};
struct NeighborCountedSends {
  Counts sends;
  const int* receive_counts;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};
struct NeighborTypedSends {
  TypedCounts sends;
  const int* receive_counts;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};

}  // namespace commpass
