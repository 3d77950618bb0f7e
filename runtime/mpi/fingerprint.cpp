#include "runtime/mpi/fingerprint.hpp"

#include "runtime/mpi/mpi_library.hpp"

namespace commpass {

Fingerprint fingerprint_here() {
  auto fingerprint = host_fingerprint();
  fingerprint.mpi_library = mpi_library();
  return fingerprint;
}

}  // namespace commpass
