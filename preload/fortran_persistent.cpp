// Calls from Fortran that make a persistent collective, by the names of Open MPI's bindings, as fortran_started.cpp has
// those that start one.
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "preload/call_site.hpp"
#include "preload/fortran_arguments.hpp"
#include "preload/kept_types.hpp"
#include "preload/taken_communicator.hpp"

#ifdef OMPI_HAVE_MPI_EXT_PCOLLREQ

using namespace commpass::fortran;

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier)
extern "C" {

void mpix_alltoall_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                         MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  MPI_Request made = MPI_REQUEST_NULL;
  const int code =
      MPIX_Alltoall_init(send, send == MPI_IN_PLACE ? 0 : *sendcount, type_if_used(send, sendtype), buffer_of(recvbuf),
                         *recvcount, type_of(recvtype), comm_of(comm), PMPI_Info_f2c(*info), &made);
  return_request(request, made, ierr, code);
}

void mpix_alltoallv_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                          MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                          MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  MPI_Request made = MPI_REQUEST_NULL;
  const int code =
      MPIX_Alltoallv_init(send, sendcounts, sdispls, type_if_used(send, sendtype), buffer_of(recvbuf), recvcounts,
                          rdispls, type_of(recvtype), comm_of(comm), PMPI_Info_f2c(*info), &made);
  return_request(request, made, ierr, code);
}

void mpix_alltoallw_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                          MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* info,
                          MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  const auto on = comm_of(comm);
  const auto peers = static_cast<std::size_t>(commpass::peers_in(on));
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = MPIX_Alltoallw_init(
      send, sendcounts, sdispls, commpass::keep_types(types_of(peers, send, sendtypes)), buffer_of(recvbuf), recvcounts,
      rdispls, commpass::keep_types(types_of(peers, nullptr, recvtypes)), on, PMPI_Info_f2c(*info), &made);
  return_request(request, made, ierr, code);
}

void mpix_neighbor_allgather_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                                   MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                                   MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  MPI_Request made = MPI_REQUEST_NULL;
  const int code =
      MPIX_Neighbor_allgather_init(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                                   type_of(recvtype), comm_of(comm), PMPI_Info_f2c(*info), &made);
  return_request(request, made, ierr, code);
}

void mpix_neighbor_allgatherv_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                                    MPI_Fint* recvcounts, MPI_Fint* displs, MPI_Fint* recvtype, MPI_Fint* comm,
                                    MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  MPI_Request made = MPI_REQUEST_NULL;
  const int code =
      MPIX_Neighbor_allgatherv_init(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), recvcounts,
                                    displs, type_of(recvtype), comm_of(comm), PMPI_Info_f2c(*info), &made);
  return_request(request, made, ierr, code);
}

void mpix_neighbor_alltoall_init_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                                  MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* info,
                                  MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  MPI_Request made = MPI_REQUEST_NULL;
  const int code =
      MPIX_Neighbor_alltoall_init(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf), *recvcount,
                                  type_of(recvtype), comm_of(comm), PMPI_Info_f2c(*info), &made);
  return_request(request, made, ierr, code);
}

void mpix_neighbor_alltoallv_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype,
                                   void* recvbuf, MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype,
                                   MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  MPI_Request made = MPI_REQUEST_NULL;
  const int code =
      MPIX_Neighbor_alltoallv_init(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf),
                                   recvcounts, rdispls, type_of(recvtype), comm_of(comm), PMPI_Info_f2c(*info), &made);
  return_request(request, made, ierr, code);
}

void mpix_neighbor_alltoallw_init_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls, MPI_Fint* sendtypes,
                                   void* recvbuf, MPI_Fint* recvcounts, MPI_Aint* rdispls, MPI_Fint* recvtypes,
                                   MPI_Fint* comm, MPI_Fint* info, MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  const auto on = comm_of(comm);
  const auto [sources, destinations] = commpass::degrees_in(on);
  MPI_Request made = MPI_REQUEST_NULL;
  const int code = MPIX_Neighbor_alltoallw_init(
      buffer_of(sendbuf), sendcounts, sdispls, commpass::keep_types(types_of(destinations, nullptr, sendtypes)),
      buffer_of(recvbuf), recvcounts, rdispls, commpass::keep_types(types_of(sources, nullptr, recvtypes)), on,
      PMPI_Info_f2c(*info), &made);
  return_request(request, made, ierr, code);
}

void ompix_alltoall_init_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                           MPI_Fint*) __attribute__((alias("mpix_alltoall_init_")));
void ompix_alltoallv_init_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((alias("mpix_alltoallv_init_")));
void ompix_alltoallw_init_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                            MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((alias("mpix_alltoallw_init_")));
void ompix_neighbor_allgather_init_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                     MPI_Fint*, MPI_Fint*) __attribute__((alias("mpix_neighbor_allgather_init_")));
void ompix_neighbor_allgatherv_init_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                      MPI_Fint*, MPI_Fint*, MPI_Fint*)
    __attribute__((alias("mpix_neighbor_allgatherv_init_")));
void ompix_neighbor_alltoall_init_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                    MPI_Fint*, MPI_Fint*) __attribute__((alias("mpix_neighbor_alltoall_init_")));
void ompix_neighbor_alltoallv_init_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                     MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    __attribute__((alias("mpix_neighbor_alltoallv_init_")));
void ompix_neighbor_alltoallw_init_f(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*, MPI_Fint*,
                                     MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    __attribute__((alias("mpix_neighbor_alltoallw_init_")));

}  // extern "C"
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)

#endif
