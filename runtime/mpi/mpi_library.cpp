#include "runtime/mpi/mpi_library.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <cstdlib>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/transport.hpp"

namespace commpass {

std::string mpi_library_text() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  COMMPASS_MPI_CALL(MPI_Get_library_version, version.data(), &length);
  return {version.data(), static_cast<std::size_t>(length)};
}

std::string mpi_library() {
  const auto text = mpi_library_text();
  return text.substr(0, text.find_first_of(",\n"));
}

bool is_mpich() {
#if defined(COMMPASS_MPI_ABI)
  static const bool is_named = mpi_library_text().find("MPICH") != std::string::npos;
  return is_named;
#elif defined(MPICH_VERSION)
  return true;
#else
  return false;
#endif
}

namespace {

/// Answer of MPIX_Query_…_support.
std::optional<bool> ask(const char* function) {
  if (auto* query = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, function))) return query() != 0;
  return {};
}

/// MPICH and its derivatives. @param kind  MPIX_GPU_SUPPORT_…
std::optional<bool> ask_for(int kind) {
  auto* query = reinterpret_cast<int (*)(int, int*)>(dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support"));
  int answer = 0;
  if (!query || query(kind, &answer) != 0) return {};
  return answer != 0;
}

}  // namespace

std::optional<bool> takes_cuda_memory() {
  if (const auto answer = ask("MPIX_Query_cuda_support")) return answer;
  return ask_for(0);
}

std::optional<bool> takes_hip_memory() {
  constexpr int hip = 2;
  for (const char* function : {"MPIX_Query_rocm_support", "MPIX_Query_hip_support"})
    if (const auto answer = ask(function)) return answer;
  return ask_for(hip);
}

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
