// A duplicate of a user's communicator, so that our messages never meet theirs.
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
  /// The ranks of `comm`, with their neighbours: those that a rank receives from and those that it sends to, each once.
  /// Collective over `comm`.
  static OwnCommunicator with_neighbors(MPI_Comm comm, const std::vector<Rank>& sources,
                                        const std::vector<Rank>& destinations);
  /// Those of `comm` that are members, by ascending key; on other ranks none. Collective over `comm`.
  static OwnCommunicator split(MPI_Comm comm, bool is_member, int key);
  /// The ranks of `comm` that give the same color, in rank order. Collective over `comm`.
  static OwnCommunicator split_by_color(MPI_Comm comm, int color);
  ~OwnCommunicator();
  OwnCommunicator(OwnCommunicator&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  OwnCommunicator& operator=(OwnCommunicator&& other) noexcept {
    std::swap(comm_, other.comm_);
    return *this;
  }

  /// Not to be freed: messages for it may still be under way, and a communicator that MPI makes in its place would
  /// receive them.
  void keep() noexcept { comm_ = MPI_COMM_NULL; }

  explicit operator bool() const { return comm_ != MPI_COMM_NULL; }
  MPI_Comm get() const { return comm_; }
  Rank rank() const;
  int size() const;

 private:
  OwnCommunicator() = default;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace commpass
