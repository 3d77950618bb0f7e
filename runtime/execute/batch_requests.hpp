// What the executor runs: batches of requests, however these are made.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// The batches of an exchange on one rank. There are three kinds: persistent requests of a plan (PersistentRequests),
/// immediate ones that are made batch by batch (AlltoallRequests), and the MPI library's collective (LibraryRequests).
/// None allocates while it is run.
class BatchRequests {
 public:
  virtual ~BatchRequests() = default;
  BatchRequests(const BatchRequests&) = delete;
  BatchRequests& operator=(const BatchRequests&) = delete;

  /// At least one.
  virtual std::size_t batches() const = 0;
  /// Copies what is to be sent, starts the requests, and does what needs no other rank. @throws MpiError
  virtual void begin(std::size_t batch) = 0;
  /// Those of the batch that has begun.
  virtual std::span<MPI_Request> requests() = 0;
  /// As many; null where nobody asks for them.
  virtual MPI_Status* statuses() { return nullptr; }
  /// Are all requests complete, now that MPI has ended to wait for them? @throws MpiError for the code that it returned
  virtual bool are_complete(const char* call, int code) {
    check_mpi(call, code);
    return true;
  }
  /// Brings what has come to its place. @throws MpiError
  virtual void end(std::size_t batch) = 0;
  /// MPI has failed: nothing more comes into the user's buffers.
  virtual void abandon() noexcept = 0;

 protected:
  BatchRequests() = default;
};

}  // namespace commpass
