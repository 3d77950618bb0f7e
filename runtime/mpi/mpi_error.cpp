#include "runtime/mpi/mpi_error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <new>
#include <string>

namespace commpass {

namespace {

std::string text_of(const char* call, int code) {
  // MPICH 4.0 cuts a long text without an end, and looks for the end behind it.
  std::array<char, std::size_t{2} * MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  std::ranges::replace(text, '\n', ' ');
  return std::string(call) + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)) + ".";
}

struct HandlerOfComm {
  MPI_Comm comm;
  MPI_Errhandler handler;  ///< of the program
};

std::mutex mutex;
int depth = 0;        // number of ReturnedErrors of all threads
bool is_set = false;  // are the handlers ours?
std::array<HandlerOfComm, 2> handlers{HandlerOfComm{MPI_COMM_WORLD, MPI_ERRHANDLER_NULL},
                                      {MPI_COMM_SELF, MPI_ERRHANDLER_NULL}};

}  // namespace

MpiError::MpiError(const char* call, int code) : Error(text_of(call, code)), class_(MPI_ERR_OTHER) {
  MPI_Error_class(code, &class_);
}

int error_class_of(const std::exception& error) noexcept {
  if (const auto* const of_call = dynamic_cast<const CallError*>(&error)) return of_call->error_class();
  if (const auto* const of_mpi = dynamic_cast<const MpiError*>(&error)) return of_mpi->error_class();
  if (dynamic_cast<const std::bad_alloc*>(&error)) return MPI_ERR_NO_MEM;
  return dynamic_cast<const InputError*>(&error) ? MPI_ERR_ARG : MPI_ERR_OTHER;
}

bool mpi_is_usable() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

ReturnedErrors::ReturnedErrors() noexcept {
  const std::lock_guard lock(mutex);
  if (depth++ > 0 || !mpi_is_usable()) return;
  is_set = true;
  for (auto& [comm, handler] : handlers) {
    handler = MPI_ERRHANDLER_NULL;  // SimGrid has none of MPI_COMM_SELF
    MPI_Comm_get_errhandler(comm, &handler);
    if (handler != MPI_ERRHANDLER_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
}

ReturnedErrors::~ReturnedErrors() {
  const std::lock_guard lock(mutex);
  if (--depth > 0 || !is_set) return;
  is_set = false;
  for (auto& [comm, handler] : handlers) {
    if (handler == MPI_ERRHANDLER_NULL) continue;
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
  }
}

}  // namespace commpass
