// One call of the program: who runs it, and how long it takes.
#pragma once

#include <mpi.h>

#include <memory>

#include "preload/buffer_use.hpp"
#include "preload/sent_blocks.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

/// Are we inside of a call that was taken over? What it calls of MPI is left to MPI.
bool is_inside();

/// A function object that outlives this reference to it; a std::function would cost each call more.
template <class Signature>
class Callback;
template <class Result, class... Arguments>
class Callback<Result(Arguments...)> {
 public:
  Callback() = default;
  template <class Function>
  explicit Callback(const Function& function)
      : object_(std::addressof(function)), call_([](const void* object, Arguments... arguments) -> Result {
          return (*static_cast<const Function*>(object))(arguments...);
        }) {}

  Result operator()(Arguments... arguments) const { return call_(object_, arguments...); }
  explicit operator bool() const { return call_ != nullptr; }

 private:
  const void* object_ = nullptr;
  Result (*call_)(const void* object, Arguments... arguments) = nullptr;
};

/// A call of the program, which every rank of the communicator makes.
struct Call {
  InterposedCall kind;
  MPI_Comm comm;
  bool is_in_place;
  bool is_aliased;  ///< sent data lies where data is received, which MPI forbids: the library decides the result
  Callback<void(const TakenCommunicator&, SentBlocks&)>
      sends;                ///< adds what this rank sends; asked for where it is reported
  Callback<int()> library;  ///< runs it by the MPI library, and returns its code
  Callback<void(TakenCommunicator&)>
      ours;  ///< runs it by ours; throws as AlltoallvEngine; empty: the library runs it in any case
};

/// Runs it. @return a code of MPI
int run(const Call& call);

/// Runs a call that blocks by the library or by ours. Takes no memory.
/// @param library,arguments  MPI's function, and what the program gave it
template <class Sends, class Ours, class Library, class... Arguments>
int take_over(InterposedCall kind, MPI_Comm comm, BufferUse use, const Sends& sends, const Ours& ours, Library library,
              Arguments... arguments) {
  const auto by_library = [&] { return library(arguments...); };
  return run({kind, comm, use.is_in_place, use.is_aliased, Callback<void(const TakenCommunicator&, SentBlocks&)>(sends),
              Callback<int()>(by_library), Callback<void(TakenCommunicator&)>(ours)});
}

/// A call that the MPI library runs, and that is counted and recorded. Takes no memory.
template <class Sends, class Library, class... Arguments>
int pass_on(InterposedCall kind, MPI_Comm comm, const Sends& sends, Library library, Arguments... arguments) {
  const auto by_library = [&] { return library(arguments...); };
  return run({kind,
              comm,
              false,
              false,
              Callback<void(const TakenCommunicator&, SentBlocks&)>(sends),
              Callback<int()>(by_library),
              {}});
}

}  // namespace commpass
