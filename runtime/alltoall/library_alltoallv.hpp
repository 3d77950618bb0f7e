// The MPI library's own all-to-all, with numbers of any width.
#pragma once

#include <mpi.h>

#include <limits>
#include <vector>

#include "runtime/mpi/call_side.hpp"

namespace commpass {

/// That the library counts to: where it has the functions of MPI 4 that end in _c, as far as Bytes do.
#if MPI_VERSION >= 4
inline constexpr Bytes largest_library_number = std::numeric_limits<Bytes>::max();
#else
inline constexpr Bytes largest_library_number = std::numeric_limits<int>::max();
#endif

/// Has the library numbers as large as those of a call that is no w?
bool are_countable(const AlltoallCall& call);

/// Makes calls of the library, for which it copies numbers that are not int: the library reads them until the exchange
/// is complete.
class LibraryAlltoall {
 public:
  // Of a call that is no w. Take no memory for no more ranks than before.
  // @throws InputError for what the library cannot count; MpiError, std::bad_alloc
  /// MPI_Alltoall or MPI_Alltoallv.
  void run(const AlltoallCall& call, MPI_Comm comm);
  /// MPI_Ialltoall, whose counts are int, or MPI_Ialltoallv.
  void start(const AlltoallCall& call, MPI_Comm comm, MPI_Request* request);

 private:
  void keep_numbers(const AlltoallCall& call);
#if MPI_VERSION >= 4
  std::vector<MPI_Count> sendcounts_, recvcounts_;
  std::vector<MPI_Aint> sdispls_, rdispls_;
#else
  std::vector<int> sendcounts_, recvcounts_, sdispls_, rdispls_;
#endif
};

}  // namespace commpass
