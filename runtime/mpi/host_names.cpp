#include "runtime/mpi/host_names.hpp"

#include <array>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

std::vector<std::string> host_names(MPI_Comm comm) {
  const Rank rank = rank_in(comm);
  const int ranks = ranks_in(comm);
  int length = 0;
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name name{};
  COMMPASS_MPI_CALL(MPI_Get_processor_name, name.data(), &length);
  std::vector<Name> all(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  COMMPASS_MPI_CALL(MPI_Gather, name.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME,
                    MPI_CHAR, 0, comm);
  std::vector<std::string> names;
  for (const auto& each : all) names.emplace_back(each.data());
  return names;
}

}  // namespace commpass
