// MPI requests that are freed with their owner.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// A list of requests; those that are left in the end are freed, persistent ones, or sends that may never be received.
class OwnRequests : public std::vector<MPI_Request> {
 public:
  OwnRequests() = default;
  OwnRequests(const OwnRequests&) = delete;
  OwnRequests& operator=(const OwnRequests&) = delete;
  ~OwnRequests() {
    if (!mpi_is_usable()) return;
    for (auto& request : *this)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
};

/// Ends receives that are under way; others may be complete, or persistent and not started, which MPI does not cancel.
inline void cancel_receives(std::span<MPI_Request> requests) noexcept {
  for (auto& request : requests) {
    if (request == MPI_REQUEST_NULL) continue;
    int is_over = 0;
    if (MPI_Request_get_status(request, &is_over, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_over) MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace commpass
