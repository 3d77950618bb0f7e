// The MPI calls that libcommpass-mpi intercepts: a row for each. docs/unmodified.md lists them; a test compares.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace commpass {

enum class CallRole {
  taken_over,  ///< blocks all ranks of the communicator; libcommpass-mpi runs it if it is faster
  planned,     ///< makes a request; libcommpass-mpi runs its exchanges by a plan if that is faster
  recorded     ///< starts an exchange; MPI runs it, and libcommpass-mpi records it
};

/// ROW(name of the MPI call without its prefix, role), in the order of reports. `preload/` defines the functions.
#define COMMPASS_INTERPOSED_CALLS(ROW)  \
  ROW(alltoall, taken_over)             \
  ROW(alltoallv, taken_over)            \
  ROW(alltoallw, taken_over)            \
  ROW(neighbor_alltoall, taken_over)    \
  ROW(neighbor_alltoallv, taken_over)   \
  ROW(neighbor_allgather, taken_over)   \
  ROW(neighbor_allgatherv, taken_over)  \
  ROW(neighbor_alltoallw, taken_over)   \
  ROW(ialltoall, recorded)              \
  ROW(ialltoallv, recorded)             \
  ROW(ialltoallw, recorded)             \
  ROW(ineighbor_alltoall, recorded)     \
  ROW(ineighbor_alltoallv, recorded)    \
  ROW(ineighbor_alltoallw, recorded)    \
  ROW(ineighbor_allgather, recorded)    \
  ROW(ineighbor_allgatherv, recorded)   \
  ROW(alltoall_init, planned)           \
  ROW(alltoallv_init, planned)          \
  ROW(alltoallw_init, planned)          \
  ROW(neighbor_alltoall_init, planned)  \
  ROW(neighbor_alltoallv_init, planned) \
  ROW(neighbor_alltoallw_init, planned) \
  ROW(neighbor_allgather_init, planned) \
  ROW(neighbor_allgatherv_init, planned)

enum class InterposedCall {
#define COMMPASS_ROW(name, role) name,
  COMMPASS_INTERPOSED_CALLS(COMMPASS_ROW)
#undef COMMPASS_ROW
};

/// By the number of the call.
constexpr std::array interposed_call_names = {
#define COMMPASS_ROW(name, role) #name,
    COMMPASS_INTERPOSED_CALLS(COMMPASS_ROW)
#undef COMMPASS_ROW
};
constexpr std::array interposed_call_roles = {
#define COMMPASS_ROW(name, role) CallRole::role,
    COMMPASS_INTERPOSED_CALLS(COMMPASS_ROW)
#undef COMMPASS_ROW
};
constexpr std::size_t interposed_calls = interposed_call_names.size();

/// A call as MPI writes it: "MPI_Neighbor_alltoallv". @param call  a name of a row
inline std::string mpi_name_of(std::string_view call) {
  std::string name(call);
  if (!name.empty() && name.front() >= 'a' && name.front() <= 'z') name.front() -= 'a' - 'A';
  return "MPI_" + name;
}

constexpr std::optional<InterposedCall> find_interposed_call(std::string_view name) {
  const auto found = std::ranges::find(interposed_call_names, name);
  if (found == interposed_call_names.end()) return {};
  return static_cast<InterposedCall>(found - interposed_call_names.begin());
}

constexpr bool is_of_neighborhood(InterposedCall call) {
  return std::string_view(interposed_call_names[static_cast<std::size_t>(call)]).find("neighbor") !=
         std::string_view::npos;
}

/// Does libcommpass-mpi run it if that is faster?
constexpr bool can_be_taken_over(InterposedCall call) {
  return interposed_call_roles[static_cast<std::size_t>(call)] == CallRole::taken_over;
}

/// Does it make a request whose exchanges libcommpass-mpi runs if that is faster?
constexpr bool can_be_planned(InterposedCall call) {
  return interposed_call_roles[static_cast<std::size_t>(call)] == CallRole::planned;
}

/// Do all ranks of the communicator meet in it?
constexpr bool blocks(InterposedCall call) { return can_be_taken_over(call); }

/// ROW(name of the MPI call without its prefix, CallEffect). MPI runs these calls of messages, and records count them.
/// `preload/message_calls.hpp` defines the functions.
#define COMMPASS_COUNTED_CALLS(ROW) \
  ROW(send, sends)                  \
  ROW(bsend, sends)                 \
  ROW(ssend, sends)                 \
  ROW(rsend, sends)                 \
  ROW(isend, sends)                 \
  ROW(ibsend, sends)                \
  ROW(issend, sends)                \
  ROW(irsend, sends)                \
  ROW(sendrecv, sends)              \
  ROW(sendrecv_replace, sends)      \
  ROW(recv, receives)               \
  ROW(irecv, receives)              \
  ROW(send_init, prepares)          \
  ROW(bsend_init, prepares)         \
  ROW(ssend_init, prepares)         \
  ROW(rsend_init, prepares)         \
  ROW(recv_init, prepares)          \
  ROW(start, sends)                 \
  ROW(startall, sends)              \
  ROW(put, accesses)                \
  ROW(get, accesses)                \
  ROW(accumulate, accesses)         \
  ROW(rput, accesses)               \
  ROW(rget, accesses)               \
  ROW(raccumulate, accesses)        \
  ROW(wait, waits)                  \
  ROW(waitall, waits)               \
  ROW(waitany, waits)               \
  ROW(waitsome, waits)              \
  ROW(test, waits)                  \
  ROW(testall, waits)               \
  ROW(testany, waits)               \
  ROW(testsome, waits)              \
  ROW(request_free, prepares)

enum class CallEffect {
  sends,     ///< messages, or starts requests that send or receive
  receives,  ///< a message
  accesses,  ///< memory of another rank
  waits,     ///< for requests, or tests them
  prepares   ///< makes or frees a request
};

enum class CountedCall {
#define COMMPASS_ROW(name, effect) name,
  COMMPASS_COUNTED_CALLS(COMMPASS_ROW)
#undef COMMPASS_ROW
};

/// By the number of the call.
inline constexpr std::array counted_call_names = {
#define COMMPASS_ROW(name, effect) #name,
    COMMPASS_COUNTED_CALLS(COMMPASS_ROW)
#undef COMMPASS_ROW
};
inline constexpr std::array counted_call_effects = {
#define COMMPASS_ROW(name, effect) CallEffect::effect,
    COMMPASS_COUNTED_CALLS(COMMPASS_ROW)
#undef COMMPASS_ROW
};

/// Is its time recorded? Only if it may wait for other ranks: for other calls, reading a clock takes longer than
/// counting.
constexpr bool is_timed(CountedCall call) {
  const auto number = static_cast<std::size_t>(call);
  const std::string_view name = counted_call_names[number];
  switch (counted_call_effects[number]) {
    case CallEffect::waits: return true;
    case CallEffect::sends:
    case CallEffect::receives: return !name.starts_with("i") && !name.starts_with("start");
    case CallEffect::accesses:
    case CallEffect::prepares: return false;
  }
  return false;
}

/// Is it the name of a counted call, not of a collective?
constexpr bool is_counted_call(std::string_view name) {
  return std::ranges::find(counted_call_names, name) != counted_call_names.end();
}

/// The name of all counted calls in COMMPASS_MPI_CALLS.
inline constexpr std::string_view counted_calls_name = "messages";

}  // namespace commpass
