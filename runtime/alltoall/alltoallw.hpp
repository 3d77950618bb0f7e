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
  /// @param comm  ours
  /// @throws as AlltoallvEngine::run
  void run(AlltoallvEngine& engine, MPI_Comm comm, const AlltoallCall& call, const AlltoallvOptions& options);

  /// Packs the sent blocks. @return the alltoallv of bytes, whose arguments live as long as this. @throws as run
  AlltoallCall begin(MPI_Comm comm, const AlltoallCall& call);
  /// Unpacks the received blocks, into the buffer that begin() was given. @throws MpiError
  void end();

 private:
  struct Bytewise {
    const char* name;  ///< for messages
    TypedBlocks blocks{};
    std::vector<Bytes> counts{}, displacements{};

    void assign(const AlltoallCall::Side& side, MPI_Comm comm, bool must_be_packed);
    AlltoallCall::Side side(const void* users) { return {blocks.buffer(users), counts, displacements, MPI_BYTE}; }
  };
  Bytewise sends_{"alltoallw, send side"}, receives_{"alltoallw, receive side"};
  void* received_ = nullptr;
};

}  // namespace commpass
