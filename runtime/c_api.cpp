// Communicators, from C, and what the functions of the C interface share.
#include <fmt/core.h>

#include <array>
#include <utility>

#include "commpass/commpass.h"
#include "runtime/c_support.hpp"
#include "runtime/engines.hpp"

namespace commpass::c {

namespace {

thread_local std::string text;

}  // namespace

const char* error_text() { return text.c_str(); }

int keep_error(int code, std::string sentence) {
  text = std::move(sentence);
  return code;
}

void refuse_no_communicator() {
  throw InputError("commpass", "the communicator is NULL", "create one with commpass_comm_create");
}

std::string value_of(MPI_Info info, const char* key) {
  if (info == MPI_INFO_NULL) return {};
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  COMMPASS_MPI_CALL(MPI_Info_get, info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  return found ? value.data() : "";
}

void require_list(const char* place, const void* list, int length, const char* what) {
  if (length > 0 && !list) throw InputError(place, fmt::format("{} is NULL", what), "give it");
}

}  // namespace commpass::c

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
