// Calls from Fortran that return before the exchange is done, by the names of Open MPI's bindings, as fortran.cpp has
// those that block. The MPI library runs them; they are counted and recorded. Open MPI's own bindings for those with a
// datatype for each rank free the C datatypes before the exchange is done (open-mpi/ompi issue 5459), and have room for
// one for each rank, though a neighbourhood may have more (issue 13790).
#include <mpi.h>

#include <cstddef>

#include "preload/call_site.hpp"
#include "preload/fortran_arguments.hpp"
#include "preload/kept_types.hpp"
#include "preload/taken_communicator.hpp"

using namespace commpass::fortran;

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier)
extern "C" {

void mpi_ialltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                    MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Ialltoall(send, send == MPI_IN_PLACE ? 0 : *sendcount, type_if_used(send, sendtype),
                                 buffer_of(recvbuf), *recvcount, type_of(recvtype), comm_of(comm), &started);
  return_request(request, started, ierr, code);
}

void mpi_ialltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                     MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request,
                     MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Ialltoallv(send, sendcounts, sdispls, type_if_used(send, sendtype), buffer_of(recvbuf),
                                  recvcounts, rdispls, type_of(recvtype), comm_of(comm), &started);
  return_request(request, started, ierr, code);
}

void mpi_ialltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                     MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* request,
                     MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  const auto on = comm_of(comm);
  const auto peers = static_cast<std::size_t>(commpass::peers_in(on));
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Ialltoallw(send, sendcounts, sdispls, commpass::keep_types(types_of(peers, send, sendtypes)),
                                  buffer_of(recvbuf), recvcounts, rdispls,
                                  commpass::keep_types(types_of(peers, nullptr, recvtypes)), on, &started);
  return_request(request, started, ierr, code);
}

void mpi_ineighbor_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                             MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Ineighbor_alltoall(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                          *recvcount, type_of(recvtype), comm_of(comm), &started);
  return_request(request, started, ierr, code);
}

void mpi_ineighbor_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                              MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  MPI_Request started = MPI_REQUEST_NULL;
  const int code =
      MPI_Ineighbor_alltoallv(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype), buffer_of(recvbuf),
                              recvcounts, rdispls, type_of(recvtype), comm_of(comm), &started);
  return_request(request, started, ierr, code);
}

void mpi_ineighbor_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls, MPI_Fint* sendtypes,
                              void* recvbuf, MPI_Fint* recvcounts, MPI_Aint* rdispls, MPI_Fint* recvtypes,
                              MPI_Fint* comm, MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  const auto on = comm_of(comm);
  const auto [sources, destinations] = commpass::degrees_in(on);
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Ineighbor_alltoallw(buffer_of(sendbuf), sendcounts, sdispls,
                                           commpass::keep_types(types_of(destinations, nullptr, sendtypes)),
                                           buffer_of(recvbuf), recvcounts, rdispls,
                                           commpass::keep_types(types_of(sources, nullptr, recvtypes)), on, &started);
  return_request(request, started, ierr, code);
}

void mpi_ineighbor_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcount, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* request,
                              MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Ineighbor_allgather(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                           *recvcount, type_of(recvtype), comm_of(comm), &started);
  return_request(request, started, ierr, code);
}

void mpi_ineighbor_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                               MPI_Fint* recvcounts, MPI_Fint* displs, MPI_Fint* recvtype, MPI_Fint* comm,
                               MPI_Fint* request, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Ineighbor_allgatherv(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                            recvcounts, displs, type_of(recvtype), comm_of(comm), &started);
  return_request(request, started, ierr, code);
}

void ompi_ialltoall_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    __attribute__((alias("mpi_ialltoall_")));
void ompi_ialltoallv_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_ialltoallv_")));
void ompi_ialltoallw_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                       MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_ialltoallw_")));
void ompi_ineighbor_alltoall_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                               MPI_Fint*) __attribute__((alias("mpi_ineighbor_alltoall_")));
void ompi_ineighbor_alltoallv_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_ineighbor_alltoallv_")));
void ompi_ineighbor_alltoallw_f(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*, MPI_Fint*,
                                MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_ineighbor_alltoallw_")));
void ompi_ineighbor_allgather_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                MPI_Fint*) __attribute__((alias("mpi_ineighbor_allgather_")));
void ompi_ineighbor_allgatherv_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                 MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_ineighbor_allgatherv_")));

}  // extern "C"
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
