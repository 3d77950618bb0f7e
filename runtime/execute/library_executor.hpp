// Leaves a plan to the MPI library: its neighbourhood collective moves all messages.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "runtime/execute/local_copy.hpp"
#include "runtime/execute/plan_buffers.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"

namespace commpass {

/// A plan whose messages are all in flight at once, as the MPI library's collective. Commpass copies what goes to
/// itself, what has to be packed and what could not land where it belongs. Nothing of ours is allocated after
/// construction.
class LibraryExecutor {
 public:
  /// Collective over `comm`; makes a communicator with the neighbours, of which libraries have a few thousand.
  /// @throws Error, the same on every rank, if the plan has several batches or there is no memory; MpiError
  LibraryExecutor(const Plan& plan, MPI_Comm comm, const void* send_buffer, void* receive_buffer,
                  Bytes largest_count = largest_mpi_count);
  /// Completes an exchange that is in flight.
  ~LibraryExecutor();
  LibraryExecutor(const LibraryExecutor&) = delete;
  LibraryExecutor& operator=(const LibraryExecutor&) = delete;

  /// As those of Executor.
  void start();
  bool test();
  void wait();

 private:
  void finish();

  std::unique_ptr<const PlanBuffers> buffers_;
  std::vector<LocalCopy> self_, pack_, unpack_;
  std::unique_ptr<NeighborhoodCollective> collective_;
  bool in_flight_ = false;
};

}  // namespace commpass
