// Calls by which a program begins and ends with MPI and with communicators: settings are agreed on, objects of
// communicators are freed, and the records of their calls are written.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#ifdef COMMPASS_MPI_ABI
#include "preload/abi/find_function.hpp"
#endif
#include "preload/planned_requests.hpp"
#include "preload/record_file.hpp"
#include "preload/report.hpp"
#include "preload/settings.hpp"
#include "preload/taken_communicator.hpp"
#include "preload/takeover.hpp"
#include "runtime/mpi/launcher.hpp"

namespace {

bool is_within_reach = false;  // NOLINT: of the process, whose MPI_Init is ours

#ifdef COMMPASS_MPI_ABI
constexpr bool is_for_abi = true;
using commpass::find_function;
#else
constexpr bool is_for_abi = false;
void* find_function(const char* name) { return dlsym(RTLD_NEXT, name); }
#endif

/// The file of the MPI library that this process runs with; empty: it has none, or it is a part of the program.
std::string_view mpi_file() {
  Dl_info found{};
  void* const function = find_function("PMPI_Init");
  if (!function || dladdr(function, &found) == 0 || !found.dli_fname) return {};
  const std::string_view path = found.dli_fname;
  return path.substr(path.find_last_of('/') + 1);
}

/// Is that library of the kind that we are built for? One with the ABI of the standard is called mpi_abi (MPI 5.0
/// §20.2.1).
bool fits_mpi_library() {
  const auto file = mpi_file();
  return file.find("mpi_abi") != std::string_view::npos ? is_for_abi : !is_for_abi;
}

/// At the process's end, when nothing may be allocated any more.
[[gnu::destructor]] void tell_of_calls_out_of_reach() {
  int is_initialized = 0;
  if (is_within_reach || !fits_mpi_library() || PMPI_Initialized(&is_initialized) != MPI_SUCCESS || !is_initialized)
    return;
  const char *const mode = std::getenv("COMMPASS_MPI"), *const verbose = std::getenv("COMMPASS_VERBOSE");
  const bool is_told = mode && (std::string_view(mode) == "record" ||
                                (std::string_view(mode) != "off" && verbose && std::string_view(verbose) == "1"));
  if (is_told && commpass::launcher_of(1).rank == 0)
    std::fputs(
        "commpass: no call was within reach: the program initialised MPI by a name that no shared library takes over "
        "(PMPI_Init; with MPICH mpi_f08), so that MPI ran all calls.\n",
        stderr);
}

}  // namespace

namespace {

/// Frees and writes all. MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else, those that were set
/// last first: so the program's callbacks, which may exchange and free communicators, come before this one.
int end_all(MPI_Comm, int, void*, void*) {
  const auto asked = commpass::settings();
  commpass::switch_off();
  commpass::release_planned_requests();
  commpass::release_all();
  if (asked.records()) commpass::write_record_file(MPI_COMM_WORLD, asked.record_file);
  commpass::write_report(asked.mode >= commpass::Interposition::on);
  if (asked.logs() && asked.has_place_report) commpass::write_place_report(MPI_COMM_WORLD, asked.place_report);
  return MPI_SUCCESS;
}

void end_communicator(const MPI_Comm* comm) {
  if (!comm || commpass::is_inside()) return;
  commpass::forget_communicator_of_requests(*comm);
  commpass::release(*comm);
}

/// When MPI is initialised. A library of the other kind has other handles: its calls are passed on as they are.
void begin_all() {
  if (!fits_mpi_library()) return commpass::tell_of_other_library(is_for_abi, mpi_file());
  commpass::agree_on_settings();
  if (commpass::settings().mode != commpass::Interposition::off) commpass::begin_taking();
  int key = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &key, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  PMPI_Comm_free_keyval(&key);  // the attribute stays
}

}  // namespace

// MPI's own names, and MPI's own parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int MPI_Init(int* argc, char*** argv) {
  is_within_reach = true;
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) begin_all();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  is_within_reach = true;
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin_all();
  return code;
}

#if MPI_VERSION >= 4
int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  if (fits_mpi_library()) commpass::tell_of_session();
  return PMPI_Session_init(info, handler, session);
}
#endif

int MPI_Comm_free(MPI_Comm* comm) {
  end_communicator(comm);
  return PMPI_Comm_free(comm);
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  end_communicator(comm);
  return PMPI_Comm_disconnect(comm);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
