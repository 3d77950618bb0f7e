#include "runtime/mpi/mpi_library.hpp"

#include <mpi.h>

#include <array>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  COMMPASS_MPI_CALL(MPI_Get_library_version, version.data(), &length);
  const std::string text(version.data(), static_cast<std::size_t>(length));
  return text.substr(0, text.find_first_of(",\n"));
}

}  // namespace commpass
