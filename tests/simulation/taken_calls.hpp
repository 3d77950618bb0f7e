// The names of MPI's functions in libcommpass-mpi on simulated clusters. All-to-alls of simulated clusters have MPI's
// own names, so the linker gives these to libcommpass-mpi (--wrap). SMPI charges nothing for the other functions.
#pragma once

#include <mpi.h>

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" {
decltype(MPI_Alltoall) __wrap_MPI_Alltoall, __real_MPI_Alltoall;
decltype(MPI_Alltoallv) __wrap_MPI_Alltoallv, __real_MPI_Alltoallv;
}
#define MPI_Alltoall __wrap_MPI_Alltoall
#define MPI_Alltoallv __wrap_MPI_Alltoallv
#define PMPI_Alltoall __real_MPI_Alltoall
#define PMPI_Alltoallv __real_MPI_Alltoallv
// NOLINTEND(bugprone-reserved-identifier)
#define PMPI_Test MPI_Test  // lets the simulated time pass
/// Of the attribute by which libcommpass-mpi ends: MPI_Finalize deletes it, as SMPI does when it is too late.
extern "C" int commpass_keep_last_key(int* key);
#define PMPI_Comm_free_keyval commpass_keep_last_key
