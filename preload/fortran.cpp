// The same calls from Fortran, where the MPI library's bindings do not come by MPI's names for C: those of Open MPI,
// for `use mpi_f08` (ompi_…_f), `use mpi` and mpif.h (mpi_…_).
#include <mpi.h>

#include <cstddef>

#include "preload/call_site.hpp"
#include "preload/fortran_arguments.hpp"
#include "preload/taken_communicator.hpp"

using namespace commpass::fortran;

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier)
extern "C" {

void mpi_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                   MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  return_code(ierr, MPI_Alltoall(send, send == MPI_IN_PLACE ? 0 : *sendcount, type_if_used(send, sendtype),
                                 buffer_of(recvbuf), *recvcount, type_of(recvtype), comm_of(comm)));
}

void mpi_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                    MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  return_code(ierr, MPI_Alltoallv(send, sendcounts, sdispls, type_if_used(send, sendtype), buffer_of(recvbuf),
                                  recvcounts, rdispls, type_of(recvtype), comm_of(comm)));
}

void mpi_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                    MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  void* const send = buffer_of(sendbuf);
  const auto on = comm_of(comm);
  const auto peers = static_cast<std::size_t>(commpass::peers_in(on));
  const auto sends = types_of(peers, send, sendtypes), receives = types_of(peers, nullptr, recvtypes);
  return_code(ierr, MPI_Alltoallw(send, sendcounts, sdispls, sends.data(), buffer_of(recvbuf), recvcounts, rdispls,
                                  receives.data(), on));
}

void mpi_neighbor_alltoall_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                            MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  return_code(ierr, MPI_Neighbor_alltoall(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                          *recvcount, type_of(recvtype), comm_of(comm)));
}

void mpi_neighbor_alltoallv_(void* sendbuf, MPI_Fint* sendcounts, MPI_Fint* sdispls, MPI_Fint* sendtype, void* recvbuf,
                             MPI_Fint* recvcounts, MPI_Fint* rdispls, MPI_Fint* recvtype, MPI_Fint* comm,
                             MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  return_code(ierr, MPI_Neighbor_alltoallv(buffer_of(sendbuf), sendcounts, sdispls, type_of(sendtype),
                                           buffer_of(recvbuf), recvcounts, rdispls, type_of(recvtype), comm_of(comm)));
}

void mpi_neighbor_alltoallw_(void* sendbuf, MPI_Fint* sendcounts, MPI_Aint* sdispls, MPI_Fint* sendtypes, void* recvbuf,
                             MPI_Fint* recvcounts, MPI_Aint* rdispls, MPI_Fint* recvtypes, MPI_Fint* comm,
                             MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  const auto on = comm_of(comm);
  const auto places = commpass::degrees_in(on);
  const auto sends = types_of(places.destinations, nullptr, sendtypes),
             receives = types_of(places.sources, nullptr, recvtypes);
  return_code(ierr, MPI_Neighbor_alltoallw(buffer_of(sendbuf), sendcounts, sdispls, sends.data(), buffer_of(recvbuf),
                                           recvcounts, rdispls, receives.data(), on));
}

void mpi_neighbor_allgather_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf, MPI_Fint* recvcount,
                             MPI_Fint* recvtype, MPI_Fint* comm, MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  return_code(ierr, MPI_Neighbor_allgather(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                           *recvcount, type_of(recvtype), comm_of(comm)));
}

void mpi_neighbor_allgatherv_(void* sendbuf, MPI_Fint* sendcount, MPI_Fint* sendtype, void* recvbuf,
                              MPI_Fint* recvcounts, MPI_Fint* displs, MPI_Fint* recvtype, MPI_Fint* comm,
                              MPI_Fint* ierr) {
  const commpass::CallSite site(__builtin_return_address(0));
  const Buffers buffer_of(commpass::CallSite::current());
  return_code(ierr, MPI_Neighbor_allgatherv(buffer_of(sendbuf), *sendcount, type_of(sendtype), buffer_of(recvbuf),
                                            recvcounts, displs, type_of(recvtype), comm_of(comm)));
}

void mpi_init_(MPI_Fint* ierr) { return_code(ierr, MPI_Init(nullptr, nullptr)); }

void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierr) {
  int given = MPI_THREAD_SINGLE;
  return_code(ierr, MPI_Init_thread(nullptr, nullptr, *required, &given));
  *provided = given;
}

void mpi_comm_free_(MPI_Fint* comm, MPI_Fint* ierr) {
  MPI_Comm freed = comm_of(comm);
  return_code(ierr, MPI_Comm_free(&freed));
  *comm = PMPI_Comm_c2f(freed);
}

void mpi_comm_disconnect_(MPI_Fint* comm, MPI_Fint* ierr) {
  MPI_Comm freed = comm_of(comm);
  return_code(ierr, MPI_Comm_disconnect(&freed));
  *comm = PMPI_Comm_c2f(freed);
}

void ompi_alltoall_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    __attribute__((alias("mpi_alltoall_")));
void ompi_alltoallv_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*) __attribute__((alias("mpi_alltoallv_")));
void ompi_alltoallw_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                      MPI_Fint*) __attribute__((alias("mpi_alltoallw_")));
void ompi_neighbor_alltoall_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    __attribute__((alias("mpi_neighbor_alltoall_")));
void ompi_neighbor_alltoallv_f(void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                               MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_neighbor_alltoallv_")));
void ompi_neighbor_alltoallw_f(void*, MPI_Fint*, MPI_Aint*, MPI_Fint*, void*, MPI_Fint*, MPI_Aint*, MPI_Fint*,
                               MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_neighbor_alltoallw_")));
void ompi_neighbor_allgather_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*)
    __attribute__((alias("mpi_neighbor_allgather_")));
void ompi_neighbor_allgatherv_f(void*, MPI_Fint*, MPI_Fint*, void*, MPI_Fint*, MPI_Fint*, MPI_Fint*, MPI_Fint*,
                                MPI_Fint*) __attribute__((alias("mpi_neighbor_allgatherv_")));
void ompi_init_f(MPI_Fint*) __attribute__((alias("mpi_init_")));
void ompi_init_thread_f(MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_init_thread_")));
void ompi_comm_free_f(MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_comm_free_")));
void ompi_comm_disconnect_f(MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_comm_disconnect_")));

}  // extern "C"
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
