// In which order the MPI library matches the blocks of a neighbourhood where a rank is a neighbour several times.
#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "selector/environment/interposed_call.hpp"

namespace commpass {

// An MPI library has code of its own for each of these.
enum class BlockForm { alltoall, alltoallv, alltoallw };
enum class CallWay { blocking, nonblocking, persistent };

/// A collective of a neighbourhood with a block for each neighbour.
struct BlockCall {
  BlockForm form;
  CallWay way;
};
/// @return nothing for other collectives
std::optional<BlockCall> block_call_of(InterposedCall call);

/// The blocks from one rank arrive in the order in which that rank lists them. The receiver takes them into its places:
enum class MatchingOrder {
  right,     ///< as MPI 4.0 section 8.6 says: of a grid, block s into place s xor 1; of a graph, as listed
  listed,    ///< by ascending place
  reversed,  ///< by descending place
  other
};

/// Of this MPI library, found by an exchange of one rank with itself. Local; thread-safe.
/// @param self  a communicator of one rank, which nothing else uses
MatchingOrder find_matching_order(MPI_Comm self, bool is_grid, BlockCall call);

// Counts of MPI_Neighbor_alltoallw as the library takes them best: MPICH 4.0 mixes up counts of int on ranks with more
// neighbours in one direction than in the other (pmodels/mpich issue 6233), and those of MPI_Count not.
#if MPI_VERSION >= 4
using LibraryCount = MPI_Count;
#else
using LibraryCount = int;
#endif

/// The arguments of MPI_Neighbor_alltoallw.
struct TypedArguments {
  const void* sendbuf;
  const LibraryCount* sendcounts;
  const MPI_Aint* sdispls;
  const MPI_Datatype* sendtypes;
  void* recvbuf;
  const LibraryCount* recvcounts;
  const MPI_Aint* rdispls;
  const MPI_Datatype* recvtypes;
};

/// The library's own call. @param request  of a call that does not block. @return a code of MPI
int library_alltoallw(CallWay way, const TypedArguments& arguments, MPI_Comm comm, MPI_Info info, MPI_Request* request);

}  // namespace commpass
