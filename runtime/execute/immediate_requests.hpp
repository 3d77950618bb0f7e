// Requests that are made for one batch, with the sizes of received messages.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// The requests of one batch after another, in the same memory. A truncated receive counts as complete.
class ImmediateRequests {
 public:
  /// Values of got() in place of bytes.
  static constexpr Bytes under_way = -1, truncated = -2;

  /// Allocates the memory of this number of requests. @throws std::bad_alloc
  void reserve(std::size_t requests);
  /// Begins another batch, when the one before is complete.
  void clear();
  /// One request more: all receives of a batch, then all sends.
  MPI_Request* add_receive();
  MPI_Request* add_send() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  std::span<MPI_Request> all() { return requests_; }
  std::span<MPI_Request> sends() { return all().subspan(got_.size()); }
  MPI_Status* statuses();
  /// Are all complete, after an MPI call for all? @throws MpiError for an error besides truncation
  bool are_complete(const char* call, int code);
  /// Bytes of the i-th receive of the batch, or `truncated`.
  Bytes got(std::size_t receive) const { return got_[receive]; }

  /// Cancels the receives that are under way.
  void abandon() noexcept;

 private:
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<Bytes> got_;  ///< by receive; receives precede sends
};

}  // namespace commpass
