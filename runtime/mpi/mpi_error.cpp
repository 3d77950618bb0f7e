#include "runtime/mpi/mpi_error.hpp"

#include <array>
#include <string>

namespace commpass {

namespace {

std::string text_of(const char* call, int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return std::string(call) + " failed: " + std::string(text.data(), static_cast<std::size_t>(length)) + ".";
}

}  // namespace

MpiError::MpiError(const char* call, int code) : Error(text_of(call, code)), class_(MPI_ERR_OTHER) {
  MPI_Error_class(code, &class_);
}

bool mpi_is_usable() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

}  // namespace commpass
