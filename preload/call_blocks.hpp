// What the arguments of a collective say of the blocks that a rank sends, for each form of arguments one functor that
// adds them (Call::sends). Local. Of a type that is none MPI's error handler is told.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <variant>

#include "preload/sent_blocks.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

/// By rank or place: of int, or of MPI_Count in calls that end in _c. May be null, as in place.
class CountList {
 public:
  CountList(const int* counts) : counts_(counts) {}        // NOLINT(google-explicit-constructor): as MPI's arguments
  CountList(const MPI_Count* counts) : counts_(counts) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const {
    return std::visit([](const auto* counts) { return counts != nullptr; }, counts_);
  }
  /// Negative counts are errors, which the program may have asked MPI to return: nothing is sent.
  Bytes operator[](int place) const {
    return std::visit([&](const auto* counts) { return counts[place] < 0 ? Bytes{0} : Bytes{counts[place]}; }, counts_);
  }

 private:
  std::variant<const int*, const MPI_Count*> counts_;
};

/// One side of an alltoallv: elements for each rank, or of each; of a neighborhood's: for each place.
struct Counts {
  CountList counts;
  MPI_Datatype type;
};

/// One side of an alltoallw.
struct TypedCounts {
  CountList counts;
  const MPI_Datatype* types;
};

/// Of alltoall: each rank gets as much as it sends.
struct EqualSends {
  Bytes count;
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
  Bytes count;
  MPI_Datatype type;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};
struct NeighborCountedSends {
  Counts sends;
  CountList receive_counts;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};
struct NeighborTypedSends {
  TypedCounts sends;
  CountList receive_counts;
  void operator()(const TakenCommunicator& of, SentBlocks& sent) const;
};

}  // namespace commpass
