#include "runtime/mpi/ranks.hpp"

#include <array>
#include <numeric>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

Rank rank_in(MPI_Comm comm) {
  int rank = 0;
  COMMPASS_MPI_CALL(MPI_Comm_rank, comm, &rank);
  return rank;
}

int ranks_in(MPI_Comm comm) {
  int ranks = 0;
  COMMPASS_MPI_CALL(MPI_Comm_size, comm, &ranks);
  return ranks;
}

std::vector<int> world_ranks_of(MPI_Comm comm) {
  int has_world = 0;
  COMMPASS_MPI_CALL(MPI_Initialized, &has_world);
  if (!has_world) return {};
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  int is_inter = 0, size = 0;
  COMMPASS_MPI_CALL(MPI_Comm_test_inter, comm, &is_inter);
  if (is_inter) COMMPASS_MPI_CALL(MPI_Comm_remote_group, comm, &group);
  else COMMPASS_MPI_CALL(MPI_Comm_group, comm, &group);
  COMMPASS_MPI_CALL(MPI_Comm_group, MPI_COMM_WORLD, &world);
  COMMPASS_MPI_CALL(MPI_Group_size, group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), found(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  COMMPASS_MPI_CALL(MPI_Group_translate_ranks, group, static_cast<int>(ranks.size()), ranks.data(), world,
                    found.data());
  COMMPASS_MPI_CALL(MPI_Group_free, &group);
  COMMPASS_MPI_CALL(MPI_Group_free, &world);
  return found;
}

std::vector<std::string> host_names(MPI_Comm comm) {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name name{};
  int length = 0;
  COMMPASS_MPI_CALL(MPI_Get_processor_name, name.data(), &length);
  std::vector<Name> all(rank_in(comm) == 0 ? static_cast<std::size_t>(ranks_in(comm)) : 0);
  COMMPASS_MPI_CALL(MPI_Gather, name.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(), MPI_MAX_PROCESSOR_NAME,
                    MPI_CHAR, 0, comm);
  std::vector<std::string> names;
  for (const auto& each : all) names.emplace_back(each.data());
  return names;
}

}  // namespace commpass
