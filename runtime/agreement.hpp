// If one rank fails, all ranks get the error.
#pragma once

#include <mpi.h>

#include <exception>
#include <string>

namespace commpass {

/// Throws the same Error on every rank if any rank gives a message: that of the lowest such rank. Collective.
/// @param message  what went wrong here; empty: nothing
void agree(MPI_Comm comm, const std::string& message);

/// Runs a local step, then agrees. The step must not communicate, but among ranks none of which waits for one that has failed. Collective.
template <class Step>
void together(MPI_Comm comm, Step step) {
  std::string message;
  try {
    step();
  } catch (const std::exception& error) {
    message = error.what();
    if (message.empty()) message = "unknown error.";
  }
  agree(comm, message);
}

/// The text of rank `root` on every rank. Collective.
std::string broadcast(MPI_Comm comm, const std::string& text, int root = 0);

}  // namespace commpass
