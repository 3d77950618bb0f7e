// Stands in for calls that SimGrid's SMPI lacks or answers wrongly, on simulated clusters.
#include "model/base/error.hpp"
#include "runtime/mpi/cartesian_topology.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/mpi/one_thread.hpp"
#include "runtime/mpi/transport.hpp"

namespace commpass {

std::optional<Grid> grid_of(MPI_Comm) { return std::nullopt; }

// MPI_Is_thread_main is true of the first rank alone.
bool is_main_thread() { return true; }

std::vector<std::pair<std::string, std::string>> transport_settings() { return {}; }
std::string transport_text() { return {}; }

// MPI_Dist_graph_create_adjacent ends the program ("not yet implemented", 3.32).
struct NeighborhoodCollective::State {
  std::shared_ptr<NeighborGraph> graph;
};
bool NeighborhoodCollective::is_available() { return false; }
NeighborhoodCollective::NeighborhoodCollective(std::span<const NeighborMessage>, std::span<const NeighborMessage>) {
  throw Error("this MPI library has no neighbourhood collectives; use another strategy.");
}
NeighborhoodCollective::~NeighborhoodCollective() = default;
void NeighborhoodCollective::connect(MPI_Comm, std::shared_ptr<NeighborGraph>) {}
const std::shared_ptr<NeighborGraph>& NeighborhoodCollective::graph() const { return state_->graph; }
void NeighborhoodCollective::start() {}
MPI_Request* NeighborhoodCollective::request() { return nullptr; }

}  // namespace commpass
