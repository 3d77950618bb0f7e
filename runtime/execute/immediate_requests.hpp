// Requests that are made for one batch, and tell how much has come.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// Those of one batch after another, in the same memory. A receive into which more comes than fits is complete, too.
class ImmediateRequests {
 public:
  /// What a receive may have got in place of bytes.
  static constexpr Bytes under_way = -1, truncated = -2;

  /// For up to so many requests nothing is allocated. @throws std::bad_alloc
  void reserve(std::size_t requests);
  /// For another batch, when that before is complete.
  void clear();
  /// One more: all receives of a batch, then all sends.
  MPI_Request* add_receive();
  MPI_Request* add_send() { return &requests_.emplace_back(MPI_REQUEST_NULL); }

  std::span<MPI_Request> all() { return requests_; }
  std::span<MPI_Request> sends() { return all().subspan(got_.size()); }
  MPI_Status* statuses();
  /// Are all complete, after MPI has waited for all? @throws MpiError for an error besides that more came than fits
  bool are_complete(const char* call, int code);
  /// How many bytes the i-th receive of the batch has got, or `truncated`.
  Bytes got(std::size_t receive) const { return got_[receive]; }

  /// Nothing more comes into the buffers of the receives that are under way.
  void abandon() noexcept;

 private:
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<Bytes> got_;  ///< by receive, which come before the sends
};

}  // namespace commpass
