// The arguments of a call of MPI_Alltoall, MPI_Alltoallv or MPI_Alltoallw.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>

#include "runtime/alltoall/numbers.hpp"

namespace commpass {

struct AlltoallCall {
  enum class Kind : std::uint8_t { equal, v, w } kind;  ///< MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw
  struct Side {
    const void* buffer = nullptr;       ///< written to, if it is the receiving side
    Numbers counts{}, displacements{};  ///< elements; of w displacements in bytes
    MPI_Datatype type = MPI_DATATYPE_NULL;
    std::span<const MPI_Datatype> types{};  ///< of w
    Bytes count = 0;                        ///< of each block, where all are equal
  };
  Side sends;  ///< not used but for its buffer, if that is MPI_IN_PLACE
  Side receives;

  static AlltoallCall equal(const void* sendbuf, Bytes sendcount, MPI_Datatype sendtype, void* recvbuf, Bytes recvcount,
                            MPI_Datatype recvtype) {
    return {Kind::equal, {sendbuf, {}, {}, sendtype, {}, sendcount}, {recvbuf, {}, {}, recvtype, {}, recvcount}};
  }
  static AlltoallCall v(const void* sendbuf, const Numbers& sendcounts, const Numbers& sdispls, MPI_Datatype sendtype,
                        void* recvbuf, const Numbers& recvcounts, const Numbers& rdispls, MPI_Datatype recvtype) {
    return {Kind::v, {sendbuf, sendcounts, sdispls, sendtype}, {recvbuf, recvcounts, rdispls, recvtype}};
  }
  static AlltoallCall w(const void* sendbuf, const Numbers& sendcounts, const Numbers& sdispls,
                        std::span<const MPI_Datatype> sendtypes, void* recvbuf, const Numbers& recvcounts,
                        const Numbers& rdispls, std::span<const MPI_Datatype> recvtypes) {
    return {Kind::w,
            {sendbuf, sendcounts, sdispls, MPI_DATATYPE_NULL, sendtypes},
            {recvbuf, recvcounts, rdispls, MPI_DATATYPE_NULL, recvtypes}};
  }

  bool is_in_place() const { return sends.buffer == MPI_IN_PLACE; }
  void* receive_buffer() const { return const_cast<void*>(receives.buffer); }  // NOLINT: the user's, to write
  /// Are the counts and displacements of a v all int?
  bool are_int() const {
    return sends.counts.are_int() && sends.displacements.are_int() && receives.counts.are_int() &&
           receives.displacements.are_int();
  }
};

}  // namespace commpass
