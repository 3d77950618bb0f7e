#include "runtime/mpi/world_ranks.hpp"

#include <numeric>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

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

}  // namespace commpass
