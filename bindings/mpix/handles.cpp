#include "bindings/mpix/handles.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <limits>

namespace commpass::mpix {

void check(int code) {
  constexpr std::array classes{MPI_SUCCESS, MPI_ERR_ARG, MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN};
  if (code != COMMPASS_SUCCESS) throw Refusal{classes.at(static_cast<std::size_t>(code)), commpass_error_text()};
}

void check_mpi(int code) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0, error_class = MPI_ERR_OTHER;
  MPI_Error_string(code, text.data(), &length);
  MPI_Error_class(code, &error_class);
  throw Refusal{error_class, text.data()};
}

int report(const char* function, const Refusal& refusal) {
  int is_initialized = 0, is_finalized = 0, rank = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  if (is_initialized != 0 && is_finalized == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fputs(fmt::format("commpass: {}, rank {}: {}\n", function, rank, refusal.sentence).c_str(), stderr);
  return refusal.error_class;
}

namespace {

/// Made for a communicator of the program, which has it as an attribute.
struct Engine {
  commpass_comm comm = nullptr;

  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine() { commpass_comm_free(&comm); }
};

std::mutex life_mutex;
Handles<Engine, Engine> engines;
int key = MPI_KEYVAL_INVALID;
bool is_over = false;

/// The program frees a communicator, which is collective as freeing ours is.
int forget(MPI_Comm, int, void* value, void*) {
  auto* engine = static_cast<Engine*>(value);
  if (engines.contains(engine)) engines.take(&engine, MPI_ERR_ARG, "engine");
  return MPI_SUCCESS;
}

void free_communicator(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

void free_topology(CommunicatorHandle& handle) {
  free_communicator(handle.group_comm);
  free_communicator(handle.local_comm);
  handle.num_nodes = handle.rank_node = handle.ppn = 0;
}

void free_all_of(CommunicatorHandle& handle) {
  free_topology(handle);
  free_communicator(handle.neighbor_comm);
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else. Ranks free in the order in which they
/// made, which was collective.
int end_all(MPI_Comm, int, void*, void*) {
  for (auto& request : requests.take_all()) commpass_exchange_free(&request->exchange);
  for (auto& handle : communicators.take_all()) free_all_of(*handle);
  for (auto& engine : engines.take_all()) engine.reset();
  topologies.take_all();
  infos.take_all();
  const std::lock_guard lock(life_mutex);
  is_over = true;
  return MPI_SUCCESS;
}

}  // namespace

void begin() {
  const std::lock_guard lock(life_mutex);
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  if (is_initialized == 0 || is_over)
    throw Refusal{MPI_ERR_OTHER, "MPI is not running; call it between MPI_Init and MPI_Finalize."};
  if (key != MPI_KEYVAL_INVALID) return;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &key, nullptr));
  int life = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &life, nullptr));
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, life, nullptr));
  check_mpi(MPI_Comm_free_keyval(&life));  // the attribute stays
}

commpass_comm engine_of(MPI_Comm comm) {
  Engine* engine = nullptr;
  int is_there = 0;
  check_mpi(MPI_Comm_get_attr(comm, key, static_cast<void*>(&engine), &is_there));
  if (is_there != 0) return engine->comm;
  auto made = std::make_unique<Engine>();
  check(commpass_comm_create(comm, nullptr, &made->comm));
  const auto result = made->comm;
  check_mpi(MPI_Comm_set_attr(comm, key, engines.add(std::move(made))));
  return result;
}

Neighbors make_neighbors(MPI_Comm comm, int indegree, const int* sources, int outdegree, const int* destinations) {
  int ranks = std::numeric_limits<int>::max();
  if (comm != MPI_COMM_NULL) check_mpi(MPI_Comm_size(comm, &ranks));
  const auto read = [&](int degree, const int* given, const char* what) {
    if (degree < 0 || (degree > 0 && !given))
      throw Refusal{MPI_ERR_ARG, fmt::format("There are {} {}, whose list is {}; give as many as there are.", degree,
                                             what, given ? "not NULL" : "NULL")};
    std::vector<int> list(given, given + degree);
    for (const int rank : list)
      if (rank < 0 || rank >= ranks)
        throw Refusal{MPI_ERR_RANK,
                      fmt::format("Rank {} among the {} is none of {}; use ranks from 0 up.", rank, what,
                                  comm == MPI_COMM_NULL ? "any communicator" : fmt::format("the {} ranks", ranks))};
    return list;
  };
  return {read(indegree, sources, "sources"), read(outdegree, destinations, "destinations")};
}

namespace {

std::unique_ptr<CommunicatorHandle> make_communicator(MPI_Comm comm) {
  begin();
  if (comm == MPI_COMM_NULL) throw Refusal{MPI_ERR_COMM, "The communicator is MPI_COMM_NULL; give another one."};
  int is_inter = 0;
  check_mpi(MPI_Comm_test_inter(comm, &is_inter));
  if (is_inter != 0) throw Refusal{MPI_ERR_COMM, "It is an intercommunicator; give one of a single group."};
  auto handle = std::make_unique<CommunicatorHandle>();
  handle->global_comm = comm;
  handle->neighbor_comm = handle->local_comm = handle->group_comm = MPI_COMM_NULL;
  handle->num_nodes = handle->rank_node = handle->ppn = 0;
  return handle;
}

/// The functions that prepare MPI Advance's algorithms.
int accept(const char* function, const MPIX_Comm* comm) {
  return run(function, [&] { require(comm); });
}

}  // namespace

}  // namespace commpass::mpix

using namespace commpass::mpix;  // NOLINT(google-build-using-namespace): for C

int MPIX_Comm_init(MPIX_Comm** comm, MPI_Comm global_comm) {
  return run("MPIX_Comm_init", [&] {
    prepare(comm);
    *comm = communicators.add(make_communicator(global_comm));
  });
}

int MPIX_Comm_free(MPIX_Comm** comm) {
  return run("MPIX_Comm_free", [&] { free_all_of(*communicators.take(comm, MPI_ERR_COMM, "MPIX_Comm")); });
}

int MPIX_Comm_topo_init(MPIX_Comm* comm) {
  return run("MPIX_Comm_topo_init", [&] {
    auto& handle = require(comm);
    if (handle.local_comm != MPI_COMM_NULL) return;
    int rank = 0, local_rank = 0, is_first = 0;
    check_mpi(MPI_Comm_rank(comm->global_comm, &rank));
    check_mpi(MPI_Comm_split_type(comm->global_comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &handle.local_comm));
    check_mpi(MPI_Comm_rank(handle.local_comm, &local_rank));
    check_mpi(MPI_Comm_size(handle.local_comm, &handle.ppn));
    check_mpi(MPI_Comm_split(comm->global_comm, local_rank, rank, &handle.group_comm));
    is_first = local_rank == 0 ? 1 : 0;
    check_mpi(MPI_Allreduce(&is_first, &handle.num_nodes, 1, MPI_INT, MPI_SUM, comm->global_comm));
    // Nodes are numbered in the order of their first ranks.
    check_mpi(MPI_Exscan(&is_first, &handle.rank_node, 1, MPI_INT, MPI_SUM, comm->global_comm));
    if (rank == 0) handle.rank_node = 0;
    check_mpi(MPI_Bcast(&handle.rank_node, 1, MPI_INT, 0, handle.local_comm));
  });
}

int MPIX_Comm_topo_free(MPIX_Comm* comm) {
  return run("MPIX_Comm_topo_free", [&] { free_topology(require(comm)); });
}

int MPIX_Comm_tag(MPIX_Comm* comm, int* tag) {
  return run("MPIX_Comm_tag", [&] {
    auto& handle = require(comm);
    if (!tag) throw Refusal{MPI_ERR_ARG, "The address of the tag is NULL; give it."};
    constexpr int tags = 1 << 15;  // MPI promises these
    *tag = std::exchange(handle.tag, (handle.tag + 1) % tags);
  });
}

int MPIX_Comm_leader_init(MPIX_Comm* comm, int) { return accept("MPIX_Comm_leader_init", comm); }
int MPIX_Comm_leader_free(MPIX_Comm* comm) { return accept("MPIX_Comm_leader_free", comm); }
int MPIX_Comm_device_init(MPIX_Comm* comm) { return accept("MPIX_Comm_device_init", comm); }
int MPIX_Comm_device_free(MPIX_Comm* comm) { return accept("MPIX_Comm_device_free", comm); }
int MPIX_Comm_req_resize(MPIX_Comm* comm, int) { return accept("MPIX_Comm_req_resize", comm); }

int MPIX_Info_init(MPIX_Info** info) {
  return run("MPIX_Info_init", [&] {
    prepare(info);
    begin();
    *info = infos.add(std::make_unique<InfoHandle>());
  });
}

int MPIX_Info_free(MPIX_Info** info) {
  return run("MPIX_Info_free", [&] { infos.take(info, MPI_ERR_INFO, "MPIX_Info"); });
}

int MPIX_Alloc(void** memory, int bytes) {
  return run("MPIX_Alloc", [&] {
    prepare(memory);
    if (bytes < 0) throw Refusal{MPI_ERR_ARG, fmt::format("{} bytes are less than none; use 0 or more.", bytes)};
    if (bytes > 0) *memory = ::operator new(static_cast<std::size_t>(bytes));
  });
}

int MPIX_Free(void* memory) {
  ::operator delete(memory);
  return MPI_SUCCESS;
}

int MPIX_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[], const int*, int outdegree,
                                    const int destinations[], const int*, MPI_Info, int, MPIX_Comm** comm) {
  return run("MPIX_Dist_graph_create_adjacent", [&] {
    prepare(comm);
    auto handle = make_communicator(comm_old);
    handle->neighbors =
        std::make_unique<Neighbors>(make_neighbors(comm_old, indegree, sources, outdegree, destinations));
    const auto& [from, to] = *handle->neighbors;
    const int none = 0;
    check_mpi(MPI_Dist_graph_create_adjacent(comm_old, indegree, from.empty() ? &none : from.data(), MPI_UNWEIGHTED,
                                             outdegree, to.empty() ? &none : to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
                                             0, &handle->neighbor_comm));
    *comm = communicators.add(std::move(handle));
  });
}

int MPIX_Topo_init(int indegree, const int sources[], const int*, int outdegree, const int destinations[], const int*,
                   MPIX_Info*, MPIX_Topo** topo) {
  return run("MPIX_Topo_init", [&] {
    prepare(topo);
    begin();
    *topo = topologies.add(std::make_unique<_MPIX_Topo>(
        _MPIX_Topo{make_neighbors(MPI_COMM_NULL, indegree, sources, outdegree, destinations)}));
  });
}

int MPIX_Topo_from_neighbor_comm(MPIX_Comm* comm, MPIX_Topo** topo) {
  return run("MPIX_Topo_from_neighbor_comm", [&] {
    prepare(topo);
    const auto& handle = require(comm);
    if (!handle.neighbors)
      throw Refusal{MPI_ERR_TOPOLOGY, "It has no neighbours; make it by MPIX_Dist_graph_create_adjacent."};
    *topo = topologies.add(std::make_unique<_MPIX_Topo>(_MPIX_Topo{*handle.neighbors}));
  });
}

int MPIX_Topo_free(MPIX_Topo** topo) {
  return run("MPIX_Topo_free", [&] { topologies.take(topo, MPI_ERR_TOPOLOGY, "MPIX_Topo"); });
}
