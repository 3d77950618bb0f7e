// The calls of MPI that an unmodified program may have taken over.
#pragma once

#include <array>
#include <cstddef>

namespace commpass {

enum class InterposedCall {
  alltoall,
  alltoallv,
  alltoallw,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_allgather,
  neighbor_allgatherv
};

constexpr std::size_t interposed_calls = 7;

/// As MPI calls them, without its prefix; by number.
constexpr std::array<const char*, interposed_calls> interposed_call_names = {
    "alltoall",           "alltoallv",          "alltoallw",          "neighbor_alltoall",
    "neighbor_alltoallv", "neighbor_allgather", "neighbor_allgatherv"};

constexpr bool is_of_neighborhood(InterposedCall call) { return call >= InterposedCall::neighbor_alltoall; }

}  // namespace commpass
