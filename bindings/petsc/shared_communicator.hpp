// The Communicator that the star forests of one communicator of PETSc share.
#pragma once

#include <mpi.h>

#include <memory>

namespace commpass {

class Communicator;

/// It lives as long as somebody holds it; then the next call makes another one. Collective where there is none.
/// @param comm  PETSc's own, which lives as long as any forest on it
/// @throws Error, the same on every rank
std::shared_ptr<Communicator> shared_communicator(MPI_Comm comm);

}  // namespace commpass
