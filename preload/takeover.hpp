// One call of the program: who runs it, and how long it takes.
#pragma once

#include <mpi.h>

#include <memory>

#include "preload/buffer_use.hpp"
#include "preload/call_site.hpp"
#include "preload/sent_blocks.hpp"
#include "preload/taken_communicator.hpp"

namespace commpass {

/// Are we inside of a call that was taken over? What it calls of MPI is left to MPI.
bool is_inside();
/// While one lives, this thread is.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool is_logged_, was_inside_;
};

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

/// Is the call one of those that the library runs and that are counted already? Most calls are when trials are over: so
/// this reads a few words of the thread's and nothing else.
inline bool is_unwatched(InterposedCall kind, MPI_Comm comm) {
  const auto& found = place_of_found(kind, comm);
  if (!is_valid(found, kind, comm) || found.record->unwatched == 0) return false;
  --found.record->unwatched;
  return true;
}

/// Runs a call that is watched. Takes no memory.
/// @param return_address  of the function that the program called
/// @param ours            empty: the library runs it in any case
/// @param library         the library's own call
template <class Sends, class Library>
[[gnu::noinline]] int run_watched(const void* return_address, InterposedCall kind, MPI_Comm comm, BufferUse use,
                                  const Sends& sends, Callback<void(TakenCommunicator&)> ours, const Library& library) {
  const CallSite site(return_address);
  return run({kind, comm, use.is_in_place, use.is_aliased, Callback<void(const TakenCommunicator&, SentBlocks&)>(sends),
              Callback<int()>(library), ours});
}

// Run a call of the program. Inlined into the function that the program called, whose return address they take.
/// By the library or by ours; of a call that blocks. @param buffer_use  makes the BufferUse of a call that is watched
template <class MakeUse, class Sends, class Ours, class Library>
[[gnu::always_inline]] inline int take_over(InterposedCall kind, MPI_Comm comm, MakeUse buffer_use, const Sends& sends,
                                            const Ours& ours, const Library& library) {
  if (is_unwatched(kind, comm)) return library();
  return run_watched(__builtin_return_address(0), kind, comm, buffer_use(), sends,
                     Callback<void(TakenCommunicator&)>(ours), library);
}
/// Calls with neighbours, which have two buffers.
template <class Sends, class Ours, class Library>
[[gnu::always_inline]] inline int take_over(InterposedCall kind, MPI_Comm comm, const Sends& sends, const Ours& ours,
                                            const Library& library) {
  return take_over(
      kind, comm, [] { return BufferUse(); }, sends, ours, library);
}
/// By the library, in any case.
template <class Sends, class Library>
[[gnu::always_inline]] inline int pass_on(InterposedCall kind, MPI_Comm comm, const Sends& sends,
                                          const Library& library) {
  if (is_unwatched(kind, comm)) return library();
  return run_watched(__builtin_return_address(0), kind, comm, {}, sends, {}, library);
}

}  // namespace commpass
