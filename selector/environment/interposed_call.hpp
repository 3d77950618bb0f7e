// The calls of MPI that an unmodified program may have taken over or recorded.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace commpass {

enum class InterposedCall {
  alltoall,
  alltoallv,
  alltoallw,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoallw,
  // From here on calls are recorded and are MPI's.
  ialltoall,
  ialltoallv,
  ialltoallw,
  ineighbor_alltoall,
  ineighbor_alltoallv,
  ineighbor_alltoallw,
  ineighbor_allgather,
  ineighbor_allgatherv,
  alltoall_init,
  alltoallv_init,
  alltoallw_init,
  neighbor_alltoall_init,
  neighbor_alltoallv_init,
  neighbor_alltoallw_init,
  neighbor_allgather_init,
  neighbor_allgatherv_init
};

constexpr std::size_t interposed_calls = 24;

/// As MPI calls them, without its prefix; by number.
constexpr std::array<const char*, interposed_calls> interposed_call_names = {"alltoall",
                                                                             "alltoallv",
                                                                             "alltoallw",
                                                                             "neighbor_alltoall",
                                                                             "neighbor_alltoallv",
                                                                             "neighbor_allgather",
                                                                             "neighbor_allgatherv",
                                                                             "neighbor_alltoallw",
                                                                             "ialltoall",
                                                                             "ialltoallv",
                                                                             "ialltoallw",
                                                                             "ineighbor_alltoall",
                                                                             "ineighbor_alltoallv",
                                                                             "ineighbor_alltoallw",
                                                                             "ineighbor_allgather",
                                                                             "ineighbor_allgatherv",
                                                                             "alltoall_init",
                                                                             "alltoallv_init",
                                                                             "alltoallw_init",
                                                                             "neighbor_alltoall_init",
                                                                             "neighbor_alltoallv_init",
                                                                             "neighbor_alltoallw_init",
                                                                             "neighbor_allgather_init",
                                                                             "neighbor_allgatherv_init"};

constexpr bool is_of_neighborhood(InterposedCall call) {
  return std::string_view(interposed_call_names[static_cast<std::size_t>(call)]).find("neighbor") !=
         std::string_view::npos;
}

/// Do all ranks of the communicator meet in it? Not in those that only start an exchange, or make a request for it.
constexpr bool blocks(InterposedCall call) { return call <= InterposedCall::neighbor_alltoallw; }

/// Does libcommpass-mpi run it where that is faster?
constexpr bool can_be_taken_over(InterposedCall call) { return blocks(call); }

}  // namespace commpass
