// The measured parameters of one machine, and what one message costs on it.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/verdict.hpp"

namespace commpass {

/// What MPI does with messages of one range of sizes between two ranks whose first common instance is of one level.
struct Protocol {
  std::string name;                                     ///< "short", "eager", "rendezvous", …
  Bytes max_bytes = std::numeric_limits<Bytes>::max();  ///< the largest message, inclusive
  Seconds alpha_s = 0;                                  ///< a lone message of s bytes costs alpha + beta·s
  double beta_s_per_byte = 0;
  Seconds alpha_next_s = 0;                         ///< the α of every further message of a burst
  std::optional<double> beta_next_s_per_byte{};     ///< and its β, the sender's own time; absent: as beta
  std::optional<Seconds> alpha_receive_s{};         ///< what taking in one more message costs its receiver:
  std::optional<double> beta_receive_s_per_byte{};  ///< alpha + beta·s; absent: as alpha_next and beta
  // Keys that nothing prices yet: what messages of the protocol share on their way out of an instance of the next inner
  // level, and into it.
  std::optional<double> up_rate_bytes_per_s{}, down_rate_bytes_per_s{};
  bool operator==(const Protocol&) const = default;

  double beta_next() const { return beta_next_s_per_byte.value_or(beta_s_per_byte); }
  /// What a lone message costs, which need not have whole bytes.
  Seconds alone_seconds(double bytes) const { return alpha_s + beta_s_per_byte * bytes; }
  /// What one more message costs its sender.
  Seconds next_seconds(double bytes) const { return alpha_next_s + beta_next() * bytes; }
  /// What one more message of this size costs its receiver.
  Seconds receive_seconds(Bytes bytes) const {
    return alpha_receive_s.value_or(alpha_next_s) +
           beta_receive_s_per_byte.value_or(beta_s_per_byte) * static_cast<double>(bytes);
  }
  /// Are messages taken in when the receiver's own have left it, or meanwhile? That is so where receiving was measured.
  bool takes_after_sends() const { return alpha_receive_s.has_value(); }
};

/// All protocols between ranks of one level, and what such ranks share.
struct Channel {
  std::vector<Protocol> protocols;  ///< by growing max_bytes; the last is unlimited
  std::optional<Seconds>
      gamma_s{};  ///< m messages posted at once cost γ·m²/2 more; absent: not measured, and taken for 0
  double aggregate_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  double link_rate_bytes_per_s = std::numeric_limits<double>::infinity();  ///< what the messages of one rank share;
                                                                           ///< infinite: its processor's time holds it
  std::optional<Bytes> rendezvous_from_bytes{};  ///< smallest message that waits until its receive is posted;
                                                 ///< absent: not known
  bool operator==(const Channel&) const = default;

  const Protocol& protocol(Bytes bytes) const {
    std::size_t i = 0;
    while (i + 1 < protocols.size() && bytes > protocols[i].max_bytes) ++i;
    return protocols[i];
  }
  /// Has a message left for its sender before it arrives? Where it is not known from when on they wait, none has, nor
  /// does any wait.
  bool is_eager(Bytes bytes) const { return rendezvous_from_bytes && bytes < *rendezvous_from_bytes; }
  bool awaits_receive(Bytes bytes) const { return rendezvous_from_bytes && bytes >= *rendezvous_from_bytes; }
  /// Time of one more message of this size to leave its sender: of the sender's processor, or its link if that is
  /// longer.
  Seconds leaving_seconds(double bytes) const {
    return std::max(protocol(static_cast<Bytes>(bytes)).next_seconds(bytes), bytes / link_rate_bytes_per_s);
  }
  /// For each byte of a message of this protocol, the time before it begins to move: where the link is known, bytes
  /// move as fast as those of the fastest protocol.
  double handling_s_per_byte(const Protocol& protocol) const { return protocol.beta_s_per_byte - least_beta(); }
  /// That of the fastest protocol; a loop.
  double least_beta() const;
};

/// A copy between one device and host memory: `processes` at once move s bytes in all, each its part, in alpha +
/// beta·s.
struct DeviceCopy {
  int processes = 1;
  Seconds alpha_s = 0;
  double beta_s_per_byte = 0;
  bool operator==(const DeviceCopy&) const = default;
};

/// Parameters of messages whose buffers are in one kind of memory, by level. An absent level was not measured.
struct MemoryChannels {
  std::array<std::optional<Channel>, most_levels> by_level;
  bool operator==(const MemoryChannels&) const = default;

  bool has(Level level) const { return by_level[level] && !by_level[level]->protocols.empty(); }
  bool empty() const { return find(0) == nullptr; }

  /// The channel of a level; where it is absent, that of the next outer one that is present.
  /// @return null if neither it nor an outer one is present
  const Channel* find(Level level) const;
};

/// A level of a machine: its instances contain those of the level before it, which share its resources. Rates are
/// bytes per second of one instance, infinite where they are absent.
struct MachineLevel {
  std::string name;
  double up_rate_bytes_per_s = std::numeric_limits<double>::infinity();      ///< all that leaves an instance
  double down_rate_bytes_per_s = std::numeric_limits<double>::infinity();    ///< all that comes into it
  double inside_rate_bytes_per_s = std::numeric_limits<double>::infinity();  ///< all messages that stay within it
  double node_share_bytes_per_s =
      std::numeric_limits<double>::infinity();  ///< of each node below it, when the messages of all pass it at once
  // Keys that nothing prices yet.
  std::optional<double> up_messages_per_s{}, down_messages_per_s{};
  std::optional<int> messages_in_flight{};  ///< of the ranks below an instance, on their way out of it
  bool operator==(const MachineLevel&) const = default;
};

/// A small letter, then small letters, digits, '-' and '_'.
bool is_level_name(std::string_view name);

std::optional<Level> find_level(std::span<const MachineLevel> levels, std::string_view name);

/// The levels of a profile that names none, by number.
namespace standard_level {
inline constexpr Level socket = 0, node = 1, group = 2, network = 3;
std::vector<MachineLevel> levels();
const std::string& name(Level level);
}  // namespace standard_level

/// The name of the level whose ranks share memory. Every machine and every layout has one.
inline constexpr const char* node_level_name = "node";

/// Small operations, for exchanges that have to discover their pattern. Absent: not measured.
struct OperationCosts {
  std::optional<Seconds> barrier_s, allreduce_s, probe_s, put_s, fence_s, window_s;
  /// What the MPI library's neighbourhood collective takes beyond a direct exchange of the same messages: the call, and
  /// each message at either end. Negative if it is faster. Without the second the first is for any number.
  std::optional<Seconds> neighbor_alltoall_s, neighbor_alltoall_message_s;
  std::optional<Seconds> alltoallv_s{},
      alltoallv_message_s{};                  ///< of MPI_Alltoallv, beyond a direct exchange that is called once
  std::optional<Seconds> alltoallv_rank_s{};  ///< of MPI_Alltoallv for each rank to which a rank sends nothing
  /// What Commpass's own calls take beyond the messages: for each batch of a planned exchange and of one that is called
  /// once, for each discovery of a sparse exchange.
  std::optional<Seconds> batch_s{}, batch_once_s{}, discovery_s{};
  /// Ranks of N nodes wait this · √N for one another in each batch of messages between nodes that follows another batch
  /// of its stage.
  std::optional<Seconds> skew_s{};
  /// The largest send that takes less with a new request than with a persistent one.
  std::optional<Bytes> new_send_bytes{};
  std::optional<int> ranks{};  ///< with how many ranks barrier, allreduce, fence and window were measured; at least two
  bool operator==(const OperationCosts&) const = default;
};

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

/// What an exchange may take of a rank, whatever it costs. Absent: no limit, but for messages to other nodes.
struct Limits {
  std::optional<int> messages_off_node{};  ///< in flight to other nodes; absent: default_messages_off_node
  std::optional<int> messages{};           ///< in flight, all of them
  std::optional<int> partners{};           ///< ranks to which a rank sends, in all stages
  std::optional<Bytes> buffer_bytes{};     ///< memory for what a rank forwards
  bool operator==(const Limits&) const = default;
};

/// `limits`, and where `others` has one, that.
Limits merged(Limits limits, const Limits& others);

/// On Dane (Omni-Path) 2076 of 2076 all-to-alls with up to 63 messages in flight to other nodes went without a stall; a
/// third of those with 84 to 105 lost messages, which were sent again 160 ms later (docs/profiles.md, "Limits").
inline constexpr int default_messages_off_node = 64;

/// A level that is on the wrong side of others, and why, for people.
struct MisplacedLevel {
  Level level;
  const char* why;
};

/// By names alone: a level of a node outside it, a group of nodes within one, a network that is not the outermost
/// level. Nothing where there is none, or no node.
std::optional<MisplacedLevel> find_misplaced(std::span<const MachineLevel> levels);

/// One machine. Rates that are absent in the profile are infinite here; a measured parameter without a cost is 0.
/// docs/profiles.md names the stand-ins for absent parameters.
struct Machine {
  std::string name;
  std::vector<MachineLevel> levels = standard_level::levels();  ///< innermost first; the last has one instance
  MemoryChannels host;
  MemoryChannels device;
  std::vector<DeviceCopy> device_to_host, host_to_device;
  std::optional<int> devices_per_node{};                 ///< absent: each rank with data on devices has one of its own
  std::optional<double> device_copy_rate_bytes_per_s{};  ///< of copies within a device, as the host's rate and call;
  std::optional<Seconds> device_copy_call_s{};           ///< absent: not measured, see on_device
  double copy_rate_bytes_per_s = std::numeric_limits<double>::infinity();  ///< a local memory copy
  std::optional<Seconds> copy_block_s{};  ///< for each contiguous piece copied; absent: not measured, and taken for 0
  Seconds copy_call_s = 0;                ///< and before the pieces of a batch: no key, see on_device
  std::optional<Seconds>
      value_run_s{};  ///< for each run of small values that a loop copies (model/cost/value_loops.hpp)
  std::optional<double> datatype_rate_bytes_per_s{};  ///< as these two, where the MPI library gathers or
  std::optional<Seconds> datatype_block_s{};          ///< scatters the pieces of a derived datatype
  std::string mpi_library{};  ///< name and version, as the provenance of a profile tells them; empty: not known
  OperationCosts operations;
  Limits limits;
  std::optional<Verdict> verdict{};      ///< of its calibration; absent: none was made
  std::vector<std::string> stand_ins{};  ///< for people: unknown parameters, and their stand-ins (stand_ins.hpp)
  bool operator==(const Machine&) const = default;

  Level outermost() const { return static_cast<Level>(levels.size() - 1); }
  /// Messages between ranks of an outer one leave their node.
  Level node_level() const { return level(node_level_name); }
  /// @throws InputError if there is no such level
  Level level(std::string_view name) const;
  const std::string& name_of(Level level) const { return levels[level].name; }
};

/// For people, where the ends of a message of a level are: "on a socket", "between sockets", "between nodes".
std::string place_of(const Machine& machine, Level level);

/// The machine with all rates that ranks share taken times `factor`: infinity for no contention, 1/n for the part of
/// one of n ranks that do the same.
Machine with_shared_rates_times(Machine machine, double factor);

/// What it takes to bring pieces of memory together, or to their places: by copies, or by the MPI library, of a derived
/// datatype. Nothing where the latter was not measured.
Seconds copying_seconds(const Machine& machine, double bytes, double pieces);
std::optional<Seconds> datatype_seconds(const Machine& machine, double bytes, double pieces);
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

/// How messages in host memory move between ranks of a level: its channel or, where it is absent, that of the next
/// outer one.
/// @throws InputError if neither it nor an outer one is present
const Channel& host_channel(const Machine& machine, Level level);

}  // namespace commpass
