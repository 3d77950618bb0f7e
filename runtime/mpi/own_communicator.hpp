// Communicators of our own, so that our messages never match the user's.
#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// Owns an MPI communicator that returns errors. Move-only.
class OwnCommunicator {
 public:
  /// Duplicates. Collective over `comm`. @throws InputError for an intercommunicator; MpiError
  explicit OwnCommunicator(MPI_Comm comm);
  /// @throws InputError for an intercommunicator; MpiError
  static void require_intracommunicator(MPI_Comm comm);
  /// The ranks of `comm` that share memory. Collective over `comm`.
  static OwnCommunicator split_by_node(MPI_Comm comm);
  /// The ranks of `comm` with a distributed graph topology: each source and destination of a rank once. Collective over
  /// `comm`.
  static OwnCommunicator with_neighbors(MPI_Comm comm, const std::vector<Rank>& sources,
                                        const std::vector<Rank>& destinations);
  /// The ranks of `comm` with the same color, by ascending key, then rank; none for MPI_UNDEFINED. Collective over
  /// `comm`.
  static OwnCommunicator split(MPI_Comm comm, int color, int key = 0);
  ~OwnCommunicator();
  OwnCommunicator(OwnCommunicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  OwnCommunicator& operator=(OwnCommunicator&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }

  /// Leaves the communicator unfreed: messages for it may still be under way, and a new communicator with its context
  /// id would receive them.
  void keep() noexcept { comm_ = MPI_COMM_NULL; }

  explicit operator bool() const { return comm_ != MPI_COMM_NULL; }
  MPI_Comm get() const { return comm_; }
  Rank rank() const;
  int size() const;

 private:
  OwnCommunicator() = default;
  void return_errors() const;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace commpass
