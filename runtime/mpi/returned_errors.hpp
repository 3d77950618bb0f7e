// Errors of MPI calls that name no communicator, as codes.
#pragma once

namespace commpass {

/// As long as one lives, the handlers of MPI_COMM_WORLD and MPI_COMM_SELF are MPI_ERRORS_RETURN. MPI libraries tell
/// them errors of calls that name no communicator: MPICH 4.0 those of MPI_Testall and MPI_Waitall, whatever
/// communicator the requests have, and both libraries those of MPI_Type_…. By default these end the program. Other
/// threads' errors are returned meanwhile, too. Takes some 30 ns a communicator.
class ReturnedErrors {
 public:
  ReturnedErrors() noexcept;
  ~ReturnedErrors();
  ReturnedErrors(const ReturnedErrors&) = delete;
  ReturnedErrors& operator=(const ReturnedErrors&) = delete;
};

}  // namespace commpass
