// In place of neighborhood_collective.cpp where the MPI library has none: SimGrid's SMPI ends the program in
// MPI_Dist_graph_create_adjacent ("not yet implemented", 3.32).
#include "model/base/error.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"

namespace commpass {

struct NeighborhoodCollective::State {
  std::shared_ptr<NeighborGraph> graph;
};

bool NeighborhoodCollective::is_available() { return false; }

NeighborhoodCollective::NeighborhoodCollective(std::span<const NeighborMessage>, std::span<const NeighborMessage>,
                                               Bytes) {
  throw Error("this MPI library has no neighbourhood collectives; use another strategy.");
}
NeighborhoodCollective::~NeighborhoodCollective() = default;
void NeighborhoodCollective::connect(MPI_Comm, std::shared_ptr<NeighborGraph>) {}
const std::shared_ptr<NeighborGraph>& NeighborhoodCollective::graph() const { return state_->graph; }
void NeighborhoodCollective::start() {}
MPI_Request* NeighborhoodCollective::request() { return nullptr; }

}  // namespace commpass
