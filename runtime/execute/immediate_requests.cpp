#include "runtime/execute/immediate_requests.hpp"

#include <algorithm>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/own_requests.hpp"

namespace commpass {

namespace {

Bytes bytes_in(MPI_Status& status) {
  MPI_Count bytes = 0;
  COMMPASS_MPI_CALL(MPI_Get_elements_x, &status, MPI_BYTE, &bytes);
  return bytes;
}

}  // namespace

void ImmediateRequests::reserve(std::size_t requests) {
  requests_.reserve(requests);
  statuses_.reserve(requests);
  got_.reserve(requests);
}

void ImmediateRequests::clear() {
  requests_.clear();
  got_.clear();
}

MPI_Request* ImmediateRequests::add_receive() {
  got_.push_back(under_way);
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

MPI_Status* ImmediateRequests::statuses() {
  statuses_.resize(requests_.size());
  for (auto& status : statuses_) status.MPI_ERROR = MPI_SUCCESS;  // which MPI sets only after a failure
  return statuses_.data();
}

bool ImmediateRequests::are_complete(const char* call, int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (code != MPI_SUCCESS && error_class != MPI_ERR_IN_STATUS) check_mpi(call, code);
  for (std::size_t i = 0; i < got_.size(); ++i) {
    if (got_[i] != under_way || requests_[i] != MPI_REQUEST_NULL) continue;
    MPI_Error_class(statuses_[i].MPI_ERROR, &error_class);
    if (error_class == MPI_ERR_TRUNCATE) {
      got_[i] = truncated;
    } else {
      check_mpi(call, statuses_[i].MPI_ERROR);
      got_[i] = bytes_in(statuses_[i]);
    }
  }
  return code == MPI_SUCCESS ||
         std::ranges::all_of(requests_, [](MPI_Request request) { return request == MPI_REQUEST_NULL; });
}

void ImmediateRequests::abandon() noexcept {
  if (!mpi_is_usable()) return clear();
  cancel_receives(all().first(got_.size()));
  for (auto& request : sends())
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);  // its receive may never be posted
  clear();
}

}  // namespace commpass
