// MPI error codes as exceptions.
#pragma once

#include <mpi.h>

#include <exception>
#include <string>

#include "model/base/error.hpp"

namespace commpass {

/// An MPI call failed. Only calls on communicators of our own return errors; the user's keep their handler.
class MpiError : public Error {
 public:
  MpiError(const char* call, int code);
  int error_class() const { return class_; }

 private:
  int class_;
};

/// An argument of a call is wrong, or a message does not match it. Has the class that MPI gives such an error.
class CallError : public InputError {
 public:
  CallError(int error_class, const std::string& where, const std::string& what, const std::string& remedy)
      : InputError(where, what, remedy), class_(error_class) {}
  int error_class() const { return class_; }

 private:
  int class_;
};

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
