// If one rank fails, all ranks get the error.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <string>

namespace commpass {

/// Throws the same Error on every rank if any rank gives a message: that of the lowest such rank. Collective.
/// @param message  what went wrong here; empty: nothing
void agree(MPI_Comm comm, const std::string& message);

/// What an exception says, as one sentence; if there is no memory for that, a very short one.
std::string sentence_of(const std::exception& error) noexcept;

/// Runs a local step that either succeeds on all ranks or throws on all: then they agree. The step must not
/// communicate, but among ranks none of which waits for one that has failed. Collective.
template <class Step>
void all_or_none(MPI_Comm comm, Step step) {
  std::string message;
  try {
    step();
  } catch (const std::exception& error) {
    message = sentence_of(error);
  }
  agree(comm, message);
}

/// Waits until all ranks of a communicator are here, and moves on meanwhile what is in flight. To be called before
/// collective calls that block: another rank may come to them only when this one has passed on what it waits for.
/// Collective.
void assemble(MPI_Comm comm);

/// For what takes little memory, and without which a rank could not even take part with nothing, so that others would
/// wait for it: tries it twice.
template <class Action>
decltype(auto) insist(Action action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return action();
  }
}

/// The text of rank `root` on every rank. Collective.
std::string broadcast(MPI_Comm comm, const std::string& text, int root = 0);

}  // namespace commpass
