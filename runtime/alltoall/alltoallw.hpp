// Exchanges between all pairs of ranks, with the arguments of MPI_Alltoallw (Communicator::alltoallw).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/alltoall/alltoallv_engine.hpp"

namespace commpass {

/// Runs them as an alltoallv of bytes: blocks are packed and unpacked here, unless all of a side lie as they travel.
/// Keeps its memory from one call to the next.
class AlltoallwCall {
 public:
  struct Side {
    std::span<const int> counts, displacements;
    std::span<const MPI_Datatype> types;
  };

  /// @param comm   ours
  /// @param sends  nothing of it is used with MPI_IN_PLACE
  /// @throws as AlltoallvEngine::alltoallv; InputError also for blocks of 2^31 bytes or more
  void run(AlltoallvEngine& engine, MPI_Comm comm, const void* sendbuf, const Side& sends, void* recvbuf,
           const Side& receives, const AlltoallvOptions& options);

 private:
  struct Packing {
    std::vector<int> counts, displacements;
    std::vector<std::byte> packed;
  };
  Packing sends_, receives_;
};

}  // namespace commpass
