// The MPI library's own all-to-all, with numbers of any width.
#pragma once

#include <mpi.h>

#include <limits>
#include <vector>

#include "runtime/alltoall/numbers.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"

namespace commpass {

/// That the library counts to: where it has the functions of MPI 4 that end in _c, as far as Bytes do.
#if MPI_VERSION >= 4
inline constexpr Bytes largest_library_number = std::numeric_limits<Bytes>::max();
#else
inline constexpr Bytes largest_library_number = std::numeric_limits<int>::max();
#endif

/// As MPI_Alltoallv has them.
struct AlltoallvNumbers {
  Numbers sendcounts, sdispls, recvcounts, rdispls;

  bool are_int() const {
    return sendcounts.are_int() && sdispls.are_int() && recvcounts.are_int() && rdispls.are_int();
  }
  /// Has the library numbers as large?
  bool are_countable() const;
};

/// Copies of such numbers as the library takes them, which reads them until the exchange is complete.
class LibraryNumbers {
 public:
  /// Takes no memory for no more ranks than before. @throws InputError for what the library cannot count
  void assign(const AlltoallvNumbers& numbers);
  /// MPI_Ialltoallv. @throws MpiError
  void start(const void* sendbuf, MPI_Datatype sendtype, void* recvbuf, MPI_Datatype recvtype, MPI_Comm comm,
             MPI_Request* request) const;
  /// MPI_Alltoallv. @throws MpiError
  void run(const void* sendbuf, MPI_Datatype sendtype, void* recvbuf, MPI_Datatype recvtype, MPI_Comm comm) const;

 private:
#if MPI_VERSION >= 4
  std::vector<MPI_Count> sendcounts_, recvcounts_;
  std::vector<MPI_Aint> sdispls_, rdispls_;
#else
  std::vector<int> sendcounts_, recvcounts_, sdispls_, rdispls_;
#endif
};

/// Comes before each call that is left to the library on several ranks. The library's call moves on nothing of ours,
/// and other ranks may come to it only when messages in flight here have arrived. So a rank with such messages waits,
/// before it calls, until all others are in the call: they say so by a reduction that they start and need not wait for.
/// @param arrival  of this communicator's calls alone
void announce_arrival(NonblockingReduction& arrival, MPI_Comm comm);

/// MPI_Alltoall. @throws InputError for counts that the library does not have; MpiError
void library_alltoall(const void* sendbuf, Bytes sendcount, MPI_Datatype sendtype, void* recvbuf, Bytes recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm);

}  // namespace commpass
