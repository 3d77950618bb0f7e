#include "preload/matching_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <tuple>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace commpass {

namespace {

constexpr int dimensions = 3, places = 2 * dimensions;

/// A rank that is its own neighbour at each place.
MPI_Comm make_neighborhood(MPI_Comm self, bool is_grid) {
  MPI_Comm made = MPI_COMM_NULL;
  if (is_grid) {
    constexpr std::array sizes{1, 1, 1}, are_periodic{1, 1, 1};
    PMPI_Cart_create(self, dimensions, sizes.data(), are_periodic.data(), 0, &made);
  } else {
    constexpr std::array<int, places> ranks{};
    PMPI_Dist_graph_create_adjacent(self, places, ranks.data(), MPI_UNWEIGHTED, places, ranks.data(), MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &made);
  }
  return made;
}

using Values = std::array<int, places>;

struct IntArguments {
  Values counts, displacements;
};

constexpr IntArguments ones() {
  IntArguments made{};
  for (std::size_t place = 0; place < places; ++place) {
    made.counts[place] = 1;
    made.displacements[place] = static_cast<int>(place);
  }
  return made;
}

int start_alltoall(CallWay way, const Values& sent, Values& got, MPI_Comm comm, MPI_Request* request) {
  switch (way) {
    case CallWay::blocking: return PMPI_Neighbor_alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm);
    case CallWay::nonblocking:
      return PMPI_Ineighbor_alltoall(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm, request);
    case CallWay::persistent: break;
  }
#if MPI_VERSION >= 4
  return PMPI_Neighbor_alltoall_init(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm, MPI_INFO_NULL, request);
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
  return PMPIX_Neighbor_alltoall_init(sent.data(), 1, MPI_INT, got.data(), 1, MPI_INT, comm, MPI_INFO_NULL, request);
#else
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

int start_alltoallv(CallWay way, const Values& sent, Values& got, MPI_Comm comm, MPI_Request* request) {
  static constexpr auto arguments = ones();
  const int *const counts = arguments.counts.data(), *const at = arguments.displacements.data();
  switch (way) {
    case CallWay::blocking:
      return PMPI_Neighbor_alltoallv(sent.data(), counts, at, MPI_INT, got.data(), counts, at, MPI_INT, comm);
    case CallWay::nonblocking:
      return PMPI_Ineighbor_alltoallv(sent.data(), counts, at, MPI_INT, got.data(), counts, at, MPI_INT, comm, request);
    case CallWay::persistent: break;
  }
#if MPI_VERSION >= 4
  return PMPI_Neighbor_alltoallv_init(sent.data(), counts, at, MPI_INT, got.data(), counts, at, MPI_INT, comm,
                                      MPI_INFO_NULL, request);
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
  return PMPIX_Neighbor_alltoallv_init(sent.data(), counts, at, MPI_INT, got.data(), counts, at, MPI_INT, comm,
                                       MPI_INFO_NULL, request);
#else
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
}

int start_alltoallw(CallWay way, const Values& sent, Values& got, MPI_Comm comm, MPI_Request* request) {
  static constexpr auto at = [] {
    std::array<MPI_Aint, places> made{};
    for (std::size_t place = 0; place < places; ++place) made[place] = static_cast<MPI_Aint>(place * sizeof(int));
    return made;
  }();
  static const auto counts = [] {
    std::array<LibraryCount, places> made{};
    made.fill(1);
    return made;
  }();
  static const auto types = [] {
    std::array<MPI_Datatype, places> made{};
    made.fill(MPI_INT);
    return made;
  }();
  return library_alltoallw(
      way, {sent.data(), counts.data(), at.data(), types.data(), got.data(), counts.data(), at.data(), types.data()},
      comm, MPI_INFO_NULL, request);
}

MatchingOrder try_matching_order(MPI_Comm self, bool is_grid, BlockCall call) {
  MPI_Comm comm = make_neighborhood(self, is_grid);
  if (comm == MPI_COMM_NULL) return MatchingOrder::other;
  Values sent{}, got{};
  for (int place = 0; place < places; ++place) sent[static_cast<std::size_t>(place)] = place;
  got.fill(-1);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto start = call.form == BlockForm::alltoall    ? start_alltoall
                     : call.form == BlockForm::alltoallv ? start_alltoallv
                                                         : start_alltoallw;
  int code = start(call.way, sent, got, comm, &request);
  if (code == MPI_SUCCESS && call.way == CallWay::persistent) code = PMPI_Start(&request);
  if (code == MPI_SUCCESS && call.way != CallWay::blocking) code = PMPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
  PMPI_Comm_free(&comm);
  if (code != MPI_SUCCESS) return MatchingOrder::other;
  const auto holds = [&](auto block_at) {
    return std::ranges::all_of(sent,
                               [&](int place) { return got[static_cast<std::size_t>(place)] == block_at(place); });
  };
  if (holds([&](int place) { return is_grid ? place ^ 1 : place; })) return MatchingOrder::right;
  if (holds([](int place) { return place; })) return MatchingOrder::listed;
  return holds([](int place) { return places - 1 - place; }) ? MatchingOrder::reversed : MatchingOrder::other;
}

}  // namespace

std::optional<BlockCall> block_call_of(InterposedCall call) {
  switch (call) {
    case InterposedCall::neighbor_alltoall: return BlockCall{BlockForm::alltoall, CallWay::blocking};
    case InterposedCall::neighbor_alltoallv: return BlockCall{BlockForm::alltoallv, CallWay::blocking};
    case InterposedCall::neighbor_alltoallw: return BlockCall{BlockForm::alltoallw, CallWay::blocking};
    case InterposedCall::ineighbor_alltoall: return BlockCall{BlockForm::alltoall, CallWay::nonblocking};
    case InterposedCall::ineighbor_alltoallv: return BlockCall{BlockForm::alltoallv, CallWay::nonblocking};
    case InterposedCall::ineighbor_alltoallw: return BlockCall{BlockForm::alltoallw, CallWay::nonblocking};
    case InterposedCall::neighbor_alltoall_init: return BlockCall{BlockForm::alltoall, CallWay::persistent};
    case InterposedCall::neighbor_alltoallv_init: return BlockCall{BlockForm::alltoallv, CallWay::persistent};
    case InterposedCall::neighbor_alltoallw_init: return BlockCall{BlockForm::alltoallw, CallWay::persistent};
    default: return {};
  }
}

MatchingOrder find_matching_order(MPI_Comm self, bool is_grid, BlockCall call) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::tuple<bool, BlockForm, CallWay>, MatchingOrder>;
  const std::lock_guard lock(mutex);
  const std::tuple key(is_grid, call.form, call.way);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  return known[key] = try_matching_order(self, is_grid, call);
}

int library_alltoallw(CallWay way, const TypedArguments& of, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
#if MPI_VERSION >= 4
#define COMMPASS_LARGE(name) PMPI_##name##_c
#else
#define COMMPASS_LARGE(name) PMPI_##name
#endif
  switch (way) {
    case CallWay::blocking:
      return COMMPASS_LARGE(Neighbor_alltoallw)(of.sendbuf, of.sendcounts, of.sdispls, of.sendtypes, of.recvbuf,
                                                of.recvcounts, of.rdispls, of.recvtypes, comm);
    case CallWay::nonblocking:
      return COMMPASS_LARGE(Ineighbor_alltoallw)(of.sendbuf, of.sendcounts, of.sdispls, of.sendtypes, of.recvbuf,
                                                 of.recvcounts, of.rdispls, of.recvtypes, comm, request);
    case CallWay::persistent: break;
  }
#if MPI_VERSION >= 4
  return PMPI_Neighbor_alltoallw_init_c(of.sendbuf, of.sendcounts, of.sdispls, of.sendtypes, of.recvbuf, of.recvcounts,
                                        of.rdispls, of.recvtypes, comm, info, request);
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
  return PMPIX_Neighbor_alltoallw_init(of.sendbuf, of.sendcounts, of.sdispls, of.sendtypes, of.recvbuf, of.recvcounts,
                                       of.rdispls, of.recvtypes, comm, info, request);
#else
  static_cast<void>(info);
  return MPI_ERR_UNSUPPORTED_OPERATION;
#endif
#undef COMMPASS_LARGE
}

}  // namespace commpass
