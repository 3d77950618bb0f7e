#include "runtime/mpi/neighborhood_collective.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

#if MPI_VERSION >= 4
constexpr bool is_persistent = true;
#else
constexpr bool is_persistent = false;
#endif

/// MPI's arguments for the messages in one direction. Displacements are addresses, relative to MPI_BOTTOM.
struct Direction {
  std::vector<Rank> peers;
  std::vector<MPI_Aint> displacements;
#if MPI_VERSION >= 4
  std::vector<MPI_Count> counts;
#else
  std::vector<int> counts;
  std::vector<MessageType> own_types;
  std::vector<MPI_Datatype> types;
#endif

  explicit Direction(std::span<const NeighborMessage> messages) {
    const auto size = std::max<std::size_t>(1, messages.size());  // some libraries refuse null for an empty array
    peers.reserve(size);
    displacements.reserve(size);
    counts.reserve(size);
#if MPI_VERSION < 4
    own_types.reserve(size);
    types.reserve(size);
#endif
    for (const auto& message : messages) {
      peers.push_back(message.peer);
      COMMPASS_MPI_CALL(MPI_Get_address, message.address, &displacements.emplace_back());
#if MPI_VERSION >= 4
      counts.push_back(message.bytes);
#else
      const auto& type = own_types.emplace_back(message.bytes);
      counts.push_back(type.count());
      types.push_back(type.type());
#endif
    }
  }
};

}  // namespace

struct NeighborhoodCollective::State {
  Direction receives, sends;
  std::shared_ptr<NeighborGraph> graph = std::make_shared<NeighborGraph>();
  MPI_Request request = MPI_REQUEST_NULL;

  /// The request: persistent, or one that has started.
  void make_request() {
    // Not MPI_Neighbor_alltoallw_init: in MPICH 4.0 it uses the wrong datatypes on ranks with more neighbours in one
    // direction than in the other (pmodels/mpich issue 6233).
#if MPI_VERSION >= 4
    COMMPASS_MPI_CALL(MPI_Neighbor_alltoallv_init_c, MPI_BOTTOM, sends.counts.data(), sends.displacements.data(),
                      MPI_BYTE, MPI_BOTTOM, receives.counts.data(), receives.displacements.data(), MPI_BYTE,
                      graph->comm->get(), MPI_INFO_NULL, &request);
#else
    COMMPASS_MPI_CALL(MPI_Ineighbor_alltoallw, MPI_BOTTOM, sends.counts.data(), sends.displacements.data(),
                      sends.types.data(), MPI_BOTTOM, receives.counts.data(), receives.displacements.data(),
                      receives.types.data(), graph->comm->get(), &request);
#endif
  }
};

bool NeighborhoodCollective::is_available() { return true; }

NeighborhoodCollective::NeighborhoodCollective(std::span<const NeighborMessage> receives,
                                               std::span<const NeighborMessage> sends)
    : state_(new State{Direction(receives), Direction(sends)}) {}

void NeighborhoodCollective::connect(MPI_Comm comm, std::shared_ptr<NeighborGraph> graph) {
  if (graph) state_->graph = std::move(graph);
  else state_->graph->comm = OwnCommunicator::with_neighbors(comm, state_->receives.peers, state_->sends.peers);
  if (is_persistent) state_->make_request();
}

const std::shared_ptr<NeighborGraph>& NeighborhoodCollective::graph() const { return state_->graph; }

NeighborhoodCollective::~NeighborhoodCollective() {
  if (is_persistent && state_->request != MPI_REQUEST_NULL && mpi_is_usable()) MPI_Request_free(&state_->request);
}

void NeighborhoodCollective::start() {
  if (is_persistent) COMMPASS_MPI_CALL(MPI_Start, &state_->request);
  else state_->make_request();
}

MPI_Request* NeighborhoodCollective::request() { return &state_->request; }

}  // namespace commpass
