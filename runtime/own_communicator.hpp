// A duplicate of a user's communicator, so that our messages never meet theirs.
#pragma once

#include <mpi.h>

#include <utility>

#include "model/types.hpp"

namespace commpass {

/// Owns an MPI communicator that returns errors. Move-only.
class OwnCommunicator {
 public:
  /// Duplicates. Collective over `comm`.
  explicit OwnCommunicator(MPI_Comm comm);
  /// The ranks of `comm` that share memory. Collective over `comm`.
  static OwnCommunicator split_by_node(MPI_Comm comm);
  /// The ranks of `comm` that give the same color, in rank order. Collective over `comm`.
  static OwnCommunicator split(MPI_Comm comm, int color);
  ~OwnCommunicator();
  OwnCommunicator(OwnCommunicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  OwnCommunicator& operator=(OwnCommunicator&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }

  MPI_Comm get() const { return comm_; }
  Rank rank() const;
  int size() const;

 private:
  OwnCommunicator() = default;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace commpass
