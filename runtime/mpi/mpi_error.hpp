// MPI error codes as exceptions.
#pragma once

#include <mpi.h>

#include <exception>

#include "runtime/call_error.hpp"  // IWYU pragma: export

namespace commpass {

/// MPI's class for anything that Commpass throws.
int error_class_of(const std::exception& error) noexcept;

/// @throws MpiError unless `code` is MPI_SUCCESS
inline void check_mpi(const char* call, int code) {
  if (code != MPI_SUCCESS) throw MpiError(call, code);
}

/// Calls an MPI function and checks what it returns: COMMPASS_MPI_CALL(MPI_Barrier, comm).
#define COMMPASS_MPI_CALL(function, ...) ::commpass::check_mpi(#function, function(__VA_ARGS__))

/// MPI is between Init and Finalize, so that handles may be freed.
bool mpi_is_usable();

/// While one lives, the handlers of MPI_COMM_WORLD and MPI_COMM_SELF are MPI_ERRORS_RETURN. MPI libraries report to
/// them errors of calls that name no communicator: MPICH 4.0 those of MPI_Testall and MPI_Waitall, whatever
/// communicator the requests have, and both libraries those of MPI_Type_…. By default these end the program. Errors of
/// other threads are returned meanwhile, too. Takes some 30 ns for each communicator.
class ReturnedErrors {
 public:
  ReturnedErrors() noexcept;
  ~ReturnedErrors();
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;
};

}  // namespace commpass
