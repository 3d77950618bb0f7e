// One call of the program: who runs it, and how long it takes.
#pragma once

#include <mpi.h>

#include <functional>

#include "preload/sent_blocks.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

/// Are we inside of a call that was taken over? What it calls of MPI is left to MPI.
bool is_inside();

/// A blocking call of the program, which every rank of the communicator makes, in two ways.
struct Call {
  InterposedCall kind;
  MPI_Comm comm;
  bool is_in_place;
  std::function<void(const TakenCommunicator&, SentBlocks&)>
      sends;                                     ///< adds what this rank sends; asked for where it is reported
  std::function<int()> library;                  ///< runs it by the MPI library, and returns its code
  std::function<void(TakenCommunicator&)> ours;  ///< runs it by ours; throws as AlltoallvEngine
};

/// Runs it. @return a code of MPI
int run(const Call& call);

/// The same of functions that live as long as this. Takes no memory.
template <class Sends, class Library, class Ours>
int take_over(InterposedCall kind, MPI_Comm comm, bool is_in_place, const Sends& sends, const Library& library,
              const Ours& ours) {
  return run({kind, comm, is_in_place, std::cref(sends), std::cref(library), std::cref(ours)});
}

/// A call of the program that the MPI library runs, and that is counted and recorded.
/// @return a code of MPI
int run_by_library(InterposedCall kind, MPI_Comm comm,
                   const std::function<void(const TakenCommunicator&, SentBlocks&)>& sends,
                   const std::function<int()>& library);

/// The same of functions that live as long as this. Takes no memory.
template <class Sends, class Library>
int pass_on(InterposedCall kind, MPI_Comm comm, const Sends& sends, const Library& library) {
  return run_by_library(kind, comm, std::cref(sends), std::cref(library));
}

}  // namespace commpass
