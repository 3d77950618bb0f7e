// How a call uses its two buffers: in place, or wrongly one for both.
#pragma once

#include <mpi.h>

#include "preload/taken_communicator.hpp"
#include "runtime/mpi/mpi_library.hpp"

namespace commpass {

struct BufferUse {
  bool is_in_place = false, is_aliased = false;
};

/// Of calls whose blocks lie from the buffers on.
/// @param is_same_block  does this rank send a block, by its index, from the place where it receives it? Of 0 … peers −
/// 1
template <class IsSameBlock>
BufferUse use_of(const void* sendbuf, const void* recvbuf, MPI_Comm comm, IsSameBlock is_same_block) {
  if (sendbuf == MPI_IN_PLACE) return {.is_in_place = true};
  if (sendbuf != recvbuf || sendbuf == MPI_BOTTOM || comm == MPI_COMM_NULL) return {};
  // MPICH refuses one buffer for both before it sends anything. With any other library each rank would stay with it
  // alone, and wait for those that did not.
  if (!is_mpich()) return {};
  const int peers = peers_in(comm);
  for (int peer = 0; peer < peers; ++peer)
    if (is_same_block(peer)) return {.is_aliased = true};
  return {};
}

}  // namespace commpass
