// MPIX_Alltoall, MPIX_Alltoallv and the sparse exchanges.
#include <fmt/core.h>

#include <cstddef>
#include <cstring>

#include "bindings/mpix/handles.hpp"

using namespace commpass::mpix;  // NOLINT(google-build-using-namespace): for C

namespace {

/// Received messages, freed with it.
struct Received : commpass_received {
  Received() : commpass_received{} {}
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;
  ~Received() { commpass_received_free(this); }
};

/// Memory that MPIX_Free frees.
struct Deleter {
  void operator()(void* memory) const { MPIX_Free(memory); }
};
using Memory = std::unique_ptr<void, Deleter>;

/// NULL for nothing.
Memory copy_of(const void* from, std::size_t bytes) {
  if (bytes == 0) return {};
  Memory memory(::operator new(bytes));
  std::memcpy(memory.get(), from, bytes);
  return memory;
}

Memory copy_of_list(const int* list, int length) {
  return copy_of(list, static_cast<std::size_t>(length) * sizeof(int));
}

/// `elements` of a type, one after another.
Memory copy_of_values(const Received& received, MPI_Datatype type) {
  if (received.size == 0) return {};
  MPI_Aint begin = 0, extent = 0, true_begin = 0, true_extent = 0;
  check_mpi(MPI_Type_get_extent(type, &begin, &extent));
  check_mpi(MPI_Type_get_true_extent(type, &true_begin, &true_extent));
  return copy_of(received.values, static_cast<std::size_t>((received.size - 1) * extent + true_begin + true_extent));
}

}  // namespace

int MPIX_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPIX_Comm* comm) {
  return run("MPIX_Alltoall", [&] {
    check(commpass_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, nullptr,
                            engine_of(require(comm).global_comm)));
  });
}

int MPIX_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPIX_Comm* comm) {
  return run("MPIX_Alltoallv", [&] {
    check(commpass_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, nullptr,
                             engine_of(require(comm).global_comm)));
  });
}

int MPIX_Alltoall_crs(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype, const void* sendvals,
                      int* recv_nnz, int** src, int recvcount, MPI_Datatype recvtype, void** recvvals, MPIX_Info*,
                      MPIX_Comm* comm) {
  return run("MPIX_Alltoall_crs", [&] {
    const auto& handle = require(comm);
    if (!recv_nnz) throw Refusal{MPI_ERR_ARG, "recv_nnz is NULL; give it."};
    prepare(src);
    prepare(recvvals);
    Received received;
    check(commpass_alltoall_crs_alloc(send_nnz, dest, sendcount, sendtype, sendvals, recvtype, &received, nullptr,
                                      engine_of(handle.global_comm)));
    for (int i = 0; i < received.nnz; ++i)
      if (received.counts[i] != recvcount)
        throw Refusal{MPI_ERR_TRUNCATE, fmt::format("Rank {} sends {} elements, and {} are expected; receive as many.",
                                                    received.src[i], received.counts[i], recvcount)};
    auto sources = copy_of_list(received.src, received.nnz);
    auto values = copy_of_values(received, recvtype);
    *recv_nnz = received.nnz;
    *src = static_cast<int*>(sources.release());
    *recvvals = values.release();
  });
}

int MPIX_Alltoallv_crs(int send_nnz, int, const int* dest, const int* sendcounts, const int* sdispls,
                       MPI_Datatype sendtype, const void* sendvals, int* recv_nnz, int* recv_size, int** src,
                       int** recvcounts, int** rdispls, MPI_Datatype recvtype, void** recvvals, MPIX_Info*,
                       MPIX_Comm* comm) {
  return run("MPIX_Alltoallv_crs", [&] {
    const auto& handle = require(comm);
    if (!recv_nnz || !recv_size) throw Refusal{MPI_ERR_ARG, "recv_nnz or recv_size is NULL; give both."};
    for (int** place : {src, recvcounts, rdispls}) prepare(place);
    prepare(recvvals);
    Received received;
    check(commpass_alltoallv_crs_alloc(send_nnz, dest, sendcounts, sdispls, sendtype, sendvals, recvtype, &received,
                                       nullptr, engine_of(handle.global_comm)));
    auto sources = copy_of_list(received.src, received.nnz), counts = copy_of_list(received.counts, received.nnz),
         displacements = copy_of_list(received.displs, received.nnz);
    auto values = copy_of_values(received, recvtype);
    *recv_nnz = received.nnz;
    *recv_size = received.size;
    *src = static_cast<int*>(sources.release());
    *recvcounts = static_cast<int*>(counts.release());
    *rdispls = static_cast<int*>(displacements.release());
    *recvvals = values.release();
  });
}
