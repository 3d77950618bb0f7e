// Communicators, from C.
#include "commpass/commpass.h"
#include "runtime/c_support.hpp"
#include "runtime/engines.hpp"

namespace {

int create(MPI_Comm mpi_comm, const char* profile, const char* layout, MPI_Info info, commpass_comm* comm) {
  *comm = nullptr;
  return commpass::c::guarded([&] {
    *comm = new commpass_comm_state{commpass::Engines(
        commpass::make_context(mpi_comm, profile ? profile : "", nullptr, layout ? layout : "", info))};
  });
}

}  // namespace

const char* commpass_version(void) { return COMMPASS_VERSION; }

const char* commpass_error_text(void) { return commpass::c::error_text(); }

int commpass_comm_create(MPI_Comm mpi_comm, const char* profile, commpass_comm* comm) {
  return commpass_comm_create_laid_out(mpi_comm, profile, nullptr, comm);
}

int commpass_comm_create_laid_out(MPI_Comm mpi_comm, const char* profile, const char* layout, commpass_comm* comm) {
  return create(mpi_comm, profile, layout, MPI_INFO_NULL, comm);
}

int commpass_comm_create_with_info(MPI_Comm mpi_comm, MPI_Info info, commpass_comm* comm) {
  return create(mpi_comm, nullptr, nullptr, info, comm);
}

int commpass_comm_use_wisdom(commpass_comm comm, const char* file) {
  return commpass::c::guarded([&] {
    const auto use = commpass::c::require_communicator(comm);
    commpass::use_wisdom(*comm->engines.context, file ? file : "");
  });
}

int commpass_comm_use_stream(commpass_comm comm, void* stream) {
  return commpass::c::guarded([&] {
    const auto use = commpass::c::require_communicator(comm);
    comm->engines.context->stream = stream;
  });
}

int commpass_comm_free(commpass_comm* comm) {
  delete *comm;
  *comm = nullptr;
  return COMMPASS_SUCCESS;
}
