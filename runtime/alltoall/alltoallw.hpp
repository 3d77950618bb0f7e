// Exchanges between all pairs of ranks, with the arguments of MPI_Alltoallw (Communicator::alltoallw).
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "runtime/alltoall/alltoallv_engine.hpp"
#include "runtime/mpi/typed_blocks.hpp"

namespace commpass {

/// Runs them as an alltoallv of bytes: blocks are packed and unpacked here, unless all of a side lie as they travel.
/// Keeps its memory from one call to the next.
class AlltoallwCall {
 public:
  struct Side {
    Numbers counts, displacements;  ///< elements, bytes
    std::span<const MPI_Datatype> types;
  };

  /// @param comm   ours
  /// @param sends  nothing of it is used with MPI_IN_PLACE
  /// @throws as AlltoallvEngine::alltoallv
  void run(AlltoallvEngine& engine, MPI_Comm comm, const void* sendbuf, const Side& sends, void* recvbuf,
           const Side& receives, const AlltoallvOptions& options);

  /// The arguments of the alltoallv of bytes, as long as this.
  struct InBytes {
    const void* sendbuf;
    Numbers sendcounts, sdispls;
    void* recvbuf;
    Numbers recvcounts, rdispls;
  };
  /// Packs the sent blocks. @throws as run
  InBytes begin(MPI_Comm comm, const void* sendbuf, const Side& sends, void* recvbuf, const Side& receives);
  /// Unpacks the received blocks, into the buffer that begin() was given. @throws MpiError
  void end();

 private:
  struct Bytewise {
    const char* name;  ///< for messages
    TypedBlocks blocks{};
    std::vector<Bytes> counts{}, displacements{};

    void assign(const Side& side, const void* buffer, MPI_Comm comm, bool must_be_packed);
  };
  Bytewise sends_{"alltoallw, send side"}, receives_{"alltoallw, receive side"};
  void* received_ = nullptr;
};

}  // namespace commpass
