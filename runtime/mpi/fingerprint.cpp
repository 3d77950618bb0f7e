#include "runtime/mpi/fingerprint.hpp"

#include <unistd.h>

#include <algorithm>

#include "runtime/mpi/mpi_library.hpp"

namespace commpass {

Fingerprint fingerprint_here() {
  const auto processors = std::max(0L, sysconf(_SC_NPROCESSORS_CONF));
  return {processor_model(), static_cast<int>(processors), mpi_library()};
}

}  // namespace commpass
