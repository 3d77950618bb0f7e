// Costs of operations on a machine by its parameters, and the order of its levels.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine_data.hpp"  // IWYU pragma: export

namespace commpass {

/// A small letter, then small letters, digits, '-' and '_'.
bool is_level_name(std::string_view name);

std::optional<Level> find_level(std::span<const MachineLevel> levels, std::string_view name);

/// The cost of a collective operation on another number of ranks than it was measured with: it takes ⌈log2 P⌉ rounds,
/// which cost the same. Where the number of ranks of the measurement is unknown, the measured time.
/// @param measured_s  barrier_s, allreduce_s, fence_s or window_s of `operations`
/// @param ranks       at least one
Seconds collective_seconds(const OperationCosts& operations, Seconds measured_s, int ranks);

/// How often an exchange is run after its strategy was chosen. The preparations, and which call of the MPI
/// library may run it, depend on that.
enum class Usage { planned, once };

/// What a collective of the MPI library takes beyond a direct exchange of the same messages: the call, if its price is
/// known, and each message at either end.
struct LibraryCall {
  const char* key;  ///< of the call's price in a profile
  std::optional<Seconds> call_s;
  Seconds message_s = 0;
};
LibraryCall library_call(const OperationCosts& operations, Usage usage);

/// On a communicator of 1024 ranks with 8 partners each, sparse calls of MPI_Alltoallv took 2.4 ms on a real cluster.
inline constexpr Seconds default_alltoallv_rank_s = 2.4e-3 / 1024;

/// `limits`, and where `others` has one, that.
Limits merged(Limits limits, const Limits& others);

/// A level that is on the wrong side of others, and why, for people.
struct MisplacedLevel {
  Level level;
  const char* why;
};

/// By names alone: a level of a node outside it, a group of nodes within one, a network that is not the outermost
/// level. Nothing where there is none, or no node.
std::optional<MisplacedLevel> find_misplaced(std::span<const MachineLevel> levels);

/// For people, where the ends of a message of a level are: "on a socket", "between sockets", "between nodes".
std::string place_of(const Machine& machine, Level level);

/// The machine with all rates that ranks share taken times `factor`: infinity for no contention, 1/n for the part of
/// one of n ranks that do the same.
Machine with_shared_rates_times(Machine machine, double factor);

/// What it takes to bring pieces of memory together, or to their places: by copies, or by the MPI library, of a derived
/// datatype. Nothing where the latter was not measured.
Seconds copying_seconds(const Machine& machine, double bytes, double pieces);
std::optional<Seconds> datatype_seconds(const Machine& machine, double bytes, double pieces);
/// What it takes to add pieces to values elsewhere.
Seconds reduction_seconds(const Machine& machine, double bytes, double pieces);
/// Is it better left to the MPI library?
bool is_datatype_cheaper(const Machine& machine, double bytes, double pieces);

/// What a receiver pays for a message that it did not expect, beyond one whose receive is posted: probe_s. Where it was
/// not measured, what taking in one more empty message takes, between the nearest ranks that the machine knows: about
/// as much is done for each.
Seconds probe_seconds(const Machine& machine);

/// A machine whose host memory is what the devices' memory is on the given one: so messages and copies on devices are
/// priced as those on the host. Its messages are those of `device`, and of what nodes share only `device` counts: the
/// paper's devices do not reach what a node injects. A batch of pieces is brought together by one kernel. Where that
/// was not measured, alpha of the fastest copy to the host stands in for its start, and beta of the fastest messages
/// between devices for each byte (docs/model.md). Nothing is known of the MPI library's collectives.
Machine on_device(const Machine& machine);

/// A machine whose messages within nodes are those of `shared`, on the levels that have it: of planned exchanges up to
/// shared_bytes_max bytes, of those that are run once all. Larger ones, and all between nodes, are as they are. Those
/// that are pushed wait for no receive.
Machine with_node_memory(Machine machine, Usage usage);

/// How messages in host memory move between ranks of a level: its channel or, where it is absent, that of the next
/// outer one.
/// @throws InputError if neither it nor an outer one is present
const Channel& host_channel(const Machine& machine, Level level);

}  // namespace commpass
