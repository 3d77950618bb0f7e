// Exchanges with neighbours: those that are started many times, and those that run once.
#include "bindings/mpix/handles.hpp"

using namespace commpass::mpix;  // NOLINT(google-build-using-namespace): for C

namespace {

/// Frees an exchange that no request has.
struct Planned {
  commpass_exchange exchange = nullptr;

  Planned() = default;
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;
  ~Planned() { commpass_exchange_free(&exchange); }

  void run_once() const {
    check(commpass_start(exchange));
    check(commpass_wait(exchange));
  }
};

const Neighbors& neighbors_of(const CommunicatorHandle& comm) {
  if (comm.neighbors) return *comm.neighbors;
  throw Refusal{MPI_ERR_TOPOLOGY, "The communicator has no neighbours; make it by MPIX_Dist_graph_create_adjacent."};
}

/// The arguments of a v or w.
template <class Displacement, class Type>
struct Side {
  const int* counts;
  const Displacement* displacements;
  Type type;
};
using VSide = Side<int, MPI_Datatype>;
using WSide = Side<MPI_Aint, const MPI_Datatype*>;

int init(const void* sendbuf, const VSide& send, void* recvbuf, const VSide& receive, const Neighbors& neighbors,
         commpass_comm comm, commpass_exchange* exchange) {
  const auto& [from, to] = neighbors;
  return commpass_neighbor_alltoallv_init(sendbuf, static_cast<int>(to.size()), to.data(), send.counts,
                                          send.displacements, send.type, recvbuf, static_cast<int>(from.size()),
                                          from.data(), receive.counts, receive.displacements, receive.type,
                                          MPI_INFO_NULL, comm, exchange);
}

int init(const void* sendbuf, const WSide& send, void* recvbuf, const WSide& receive, const Neighbors& neighbors,
         commpass_comm comm, commpass_exchange* exchange) {
  const auto& [from, to] = neighbors;
  return commpass_neighbor_alltoallw_init(sendbuf, static_cast<int>(to.size()), to.data(), send.counts,
                                          send.displacements, send.type, recvbuf, static_cast<int>(from.size()),
                                          from.data(), receive.counts, receive.displacements, receive.type,
                                          MPI_INFO_NULL, comm, exchange);
}

/// @param request  null: it runs once
/// @param topo     of the neighbours; null: those of the communicator
template <class AnySide>
int exchange(const char* function, const void* sendbuf, const AnySide& send, void* recvbuf, const AnySide& receive,
             const MPIX_Comm* comm, const Neighbors* topo, MPIX_Request** request) {
  return run(function, [&] {
    const auto& handle = require(comm);
    const auto& neighbors = topo ? *topo : neighbors_of(handle);
    Planned planned;
    check(init(sendbuf, send, recvbuf, receive, neighbors, engine_of(handle.global_comm), &planned.exchange));
    if (!request) return planned.run_once();
    auto made = std::make_unique<RequestHandle>();
    made->reorder = 0;
    made->exchange = std::exchange(planned.exchange, nullptr);
    *request = requests.add(std::move(made));
  });
}

/// One that is started.
template <class AnySide>
int plan(const char* function, const void* sendbuf, const AnySide& send, void* recvbuf, const AnySide& receive,
         const MPIX_Comm* comm, const Neighbors* topo, MPIX_Request** request) {
  if (const int code = run(function, [&] { prepare(request); }); code != MPI_SUCCESS) return code;
  return exchange(function, sendbuf, send, recvbuf, receive, comm, topo, request);
}

/// The neighbours of a topology. A rank of it that the communicator does not have is found while planning, on all
/// ranks.
template <class Action>
int with_topology(const char* function, const MPIX_Topo* topo, Action action) {
  const Neighbors* neighbors = nullptr;
  const int code = run(function, [&] { neighbors = &topologies.get(topo, MPI_ERR_TOPOLOGY, "MPIX_Topo").neighbors; });
  return code == MPI_SUCCESS ? action(neighbors) : code;
}

}  // namespace

int MPIX_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            MPIX_Comm* comm) {
  return exchange("MPIX_Neighbor_alltoallv", sendbuf, VSide{sendcounts, sdispls, sendtype}, recvbuf,
                  VSide{recvcounts, rdispls, recvtype}, comm, nullptr, nullptr);
}

int MPIX_Neighbor_topo_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPIX_Topo* topo, MPIX_Comm* comm) {
  constexpr auto* function = "MPIX_Neighbor_topo_alltoallv";
  return with_topology(function, topo, [&](const Neighbors* neighbors) {
    return exchange(function, sendbuf, VSide{sendcounts, sdispls, sendtype}, recvbuf,
                    VSide{recvcounts, rdispls, recvtype}, comm, neighbors, nullptr);
  });
}

int MPIX_Neighbor_locality_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], const long[],
                                     MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                     const long[], MPI_Datatype recvtype, MPIX_Comm* comm) {
  return exchange("MPIX_Neighbor_locality_alltoallv", sendbuf, VSide{sendcounts, sdispls, sendtype}, recvbuf,
                  VSide{recvcounts, rdispls, recvtype}, comm, nullptr, nullptr);
}

int MPIX_Neighbor_part_locality_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                          MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                          const int rdispls[], MPI_Datatype recvtype, MPIX_Comm* comm) {
  return exchange("MPIX_Neighbor_part_locality_alltoallv", sendbuf, VSide{sendcounts, sdispls, sendtype}, recvbuf,
                  VSide{recvcounts, rdispls, recvtype}, comm, nullptr, nullptr);
}

int MPIX_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPIX_Comm* comm) {
  return exchange("MPIX_Neighbor_alltoallw", sendbuf, WSide{sendcounts, sdispls, sendtypes}, recvbuf,
                  WSide{recvcounts, rdispls, recvtypes}, comm, nullptr, nullptr);
}

int MPIX_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, MPIX_Comm* comm, MPIX_Info*, MPIX_Request** request) {
  return plan("MPIX_Neighbor_alltoallv_init", sendbuf, VSide{sendcounts, sdispls, sendtype}, recvbuf,
              VSide{recvcounts, rdispls, recvtype}, comm, nullptr, request);
}

int MPIX_Neighbor_topo_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                      MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                      MPI_Datatype recvtype, MPIX_Topo* topo, MPIX_Comm* comm, MPIX_Info*,
                                      MPIX_Request** request) {
  constexpr auto* function = "MPIX_Neighbor_topo_alltoallv_init";
  return with_topology(function, topo, [&](const Neighbors* neighbors) {
    return plan(function, sendbuf, VSide{sendcounts, sdispls, sendtype}, recvbuf, VSide{recvcounts, rdispls, recvtype},
                comm, neighbors, request);
  });
}

int MPIX_Neighbor_locality_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                          const long[], MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                          const int rdispls[], const long[], MPI_Datatype recvtype, MPIX_Comm* comm,
                                          MPIX_Info*, MPIX_Request** request) {
  return plan("MPIX_Neighbor_locality_alltoallv_init", sendbuf, VSide{sendcounts, sdispls, sendtype}, recvbuf,
              VSide{recvcounts, rdispls, recvtype}, comm, nullptr, request);
}

int MPIX_Neighbor_locality_topo_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                               const long[], MPI_Datatype sendtype, void* recvbuf,
                                               const int recvcounts[], const int rdispls[], const long[],
                                               MPI_Datatype recvtype, MPIX_Topo* topo, MPIX_Comm* comm, MPIX_Info* info,
                                               MPIX_Request** request) {
  return MPIX_Neighbor_topo_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                           recvtype, topo, comm, info, request);
}

int MPIX_Neighbor_part_locality_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                               const int rdispls[], MPI_Datatype recvtype, MPIX_Comm* comm, MPIX_Info*,
                                               MPIX_Request** request) {
  return plan("MPIX_Neighbor_part_locality_alltoallv_init", sendbuf, VSide{sendcounts, sdispls, sendtype}, recvbuf,
              VSide{recvcounts, rdispls, recvtype}, comm, nullptr, request);
}

int MPIX_Neighbor_part_locality_topo_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                                    MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                                    const int rdispls[], MPI_Datatype recvtype, MPIX_Topo* topo,
                                                    MPIX_Comm* comm, MPIX_Info* info, MPIX_Request** request) {
  return MPIX_Neighbor_topo_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                           recvtype, topo, comm, info, request);
}

int MPIX_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPIX_Comm* comm, MPIX_Info*,
                                 MPIX_Request** request) {
  return plan("MPIX_Neighbor_alltoallw_init", sendbuf, WSide{sendcounts, sdispls, sendtypes}, recvbuf,
              WSide{recvcounts, rdispls, recvtypes}, comm, nullptr, request);
}

int MPIX_Start(MPIX_Request* request) {
  return run("MPIX_Start",
             [&] { check(commpass_start(requests.get(request, MPI_ERR_REQUEST, "MPIX_Request").exchange)); });
}

int MPIX_Wait(MPIX_Request* request, MPI_Status* status) {
  return run("MPIX_Wait", [&] {
    check(commpass_wait(requests.get(request, MPI_ERR_REQUEST, "MPIX_Request").exchange));
    if (status == MPI_STATUS_IGNORE) return;
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    status->MPI_ERROR = MPI_SUCCESS;
    check_mpi(MPI_Status_set_elements(status, MPI_BYTE, 0));
    check_mpi(MPI_Status_set_cancelled(status, 0));
  });
}

int MPIX_Request_free(MPIX_Request** request) {
  return run("MPIX_Request_free", [&] {
    const auto taken = requests.take(request, MPI_ERR_REQUEST, "MPIX_Request");
    commpass_exchange_free(&taken->exchange);
  });
}
