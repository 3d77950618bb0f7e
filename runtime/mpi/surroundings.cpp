#include "runtime/mpi/surroundings.hpp"

#include <cstdlib>

#include "runtime/mpi/mpi_library.hpp"
#include "runtime/mpi/transport.hpp"

namespace commpass {

namespace {

/// The queue or partition of the batch system: Slurm, PBS, LSF.
std::string partition_here() {
  for (const char* variable : {"SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE"})
    if (const char* value = std::getenv(variable)) return value;
  return {};
}

}  // namespace

Fingerprint fingerprint_here() {
  auto fingerprint = host_fingerprint();
  fingerprint.mpi_library = mpi_library();
  return fingerprint;
}

Surroundings surroundings_here(const Layout& layout) {
  return {mpi_library(), transport_text(), partition_here(), layout.max_ppn(), {}};
}

}  // namespace commpass
