#include "runtime/mpi/cartesian_topology.hpp"

#include <vector>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

std::optional<Grid> grid_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED, dimensions = 0;
  COMMPASS_MPI_CALL(MPI_Topo_test, comm, &topology);
  if (topology != MPI_CART) return std::nullopt;
  COMMPASS_MPI_CALL(MPI_Cartdim_get, comm, &dimensions);
  if (dimensions == 0) return std::nullopt;
  std::vector<int> dims(static_cast<std::size_t>(dimensions)), periods(dims), coordinates(dims);
  COMMPASS_MPI_CALL(MPI_Cart_get, comm, dimensions, dims.data(), periods.data(), coordinates.data());
  return Grid{dims, {periods.begin(), periods.end()}};
}

}  // namespace commpass
