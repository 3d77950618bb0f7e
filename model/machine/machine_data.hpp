// The measured parameters of one machine.
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
#include "model/machine/limits.hpp"

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
  bool copies_pieces = false;  ///< is copying a message from and to its pieces part of it? No key; see with_node_memory
  bool operator==(const Protocol&) const = default;

  /// The β of every further message of a burst.
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

  /// The protocol of messages of a size.
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

/// Larger messages within a node go by MPI, whatever a strategy says: two slots of each are more than a core's cache
/// holds, and of 256 KiB they took up to 1.45 times as long (docs/benchmarks.md).
inline constexpr Bytes shared_bytes_max = Bytes{128} << 10;

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

  /// Was a level measured?
  bool has(Level level) const { return by_level[level] && !by_level[level]->protocols.empty(); }
  /// Was no level measured?
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

/// The levels of a profile that names none, by number.
namespace standard_level {
inline constexpr Level socket = 0;   ///< ranks of one socket
inline constexpr Level node = 1;     ///< ranks that share memory
inline constexpr Level group = 2;    ///< nodes of one group of the network
inline constexpr Level network = 3;  ///< all ranks
/// All of them, without rates.
std::vector<MachineLevel> levels();
/// The name of a level.
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
  /// P ranks wait this · √P for one another in each batch of messages between nodes that follows another batch
  /// of its stage.
  std::optional<Seconds> skew_s{};
  /// The largest send that takes less with a new request than with a persistent one.
  std::optional<Bytes> new_send_bytes{};
  std::optional<int> ranks{};  ///< with how many ranks barrier, allreduce, fence and window were measured; at least two
  bool operator==(const OperationCosts&) const = default;
};

/// How far a profile is to be trusted.
enum class Trust { good, usable, none };
inline constexpr const char* trust_names[] = {"good", "usable", "do not trust"};  ///< in this order
inline const char* name_of(Trust trust) { return trust_names[static_cast<int>(trust)]; }

/// The judgement of a calibration about its profile.
struct Verdict {
  Trust trust = Trust::good;  ///< in a word
  double uncertainty = 0;     ///< predicted times that differ by less than this part of the shorter are ties
  std::string why;            ///< a sentence without its full stop
  std::string remedy;         ///< empty where none is needed
  bool operator==(const Verdict&) const = default;
};

/// One machine. Rates that are absent in the profile are infinite here; a measured parameter without a cost is 0.
/// docs/profiles.md names the stand-ins for absent parameters.
struct Machine {
  std::string name;
  std::vector<MachineLevel> levels = standard_level::levels();  ///< innermost first; the last has one instance
  MemoryChannels host;
  MemoryChannels device;
  MemoryChannels shared;  ///< messages through memory of a node, with all that their exchange takes
  std::vector<DeviceCopy> device_to_host, host_to_device;
  std::optional<int> devices_per_node{};                 ///< absent: each rank with data on devices has one of its own
  std::optional<double> device_copy_rate_bytes_per_s{};  ///< of copies within a device, as the host's rate and call;
  std::optional<Seconds> device_copy_call_s{};           ///< absent: not measured, see on_device
  double copy_rate_bytes_per_s = std::numeric_limits<double>::infinity();  ///< a local memory copy
  std::optional<Seconds> copy_block_s{};  ///< for each contiguous piece copied; absent: not measured, and taken for 0
  Seconds copy_call_s = 0;                ///< and before the pieces of a batch: no key, see on_device
  std::optional<Seconds>
      value_run_s{};  ///< for each run of small values that a loop copies (model/cost/value_loops.hpp)
  std::optional<double> reduction_rate_bytes_per_s{};  ///< of values that are added to others; absent: as copies
  std::optional<double> datatype_rate_bytes_per_s{};   ///< as these two, where the MPI library gathers or
  std::optional<Seconds> datatype_block_s{};           ///< scatters the pieces of a derived datatype
  std::string mpi_library{};  ///< name and version, as the provenance of a profile tells them; empty: not known
  int nodes_measured = 0;     ///< of the measurements, at most, as the provenance tells them; 0: not known
  OperationCosts operations;
  Limits limits;
  std::optional<Verdict> verdict{};      ///< of its calibration; absent: none was made
  std::vector<std::string> stand_ins{};  ///< for people: unknown parameters, and their stand-ins (stand_ins.hpp)
  bool operator==(const Machine&) const = default;

  /// The level with one instance.
  Level outermost() const { return static_cast<Level>(levels.size() - 1); }
  /// Messages between ranks of an outer one leave their node.
  Level node_level() const { return level(node_level_name); }
  /// @throws InputError if there is no such level
  Level level(std::string_view name) const;
  const std::string& name_of(Level level) const { return levels[level].name; }
};

}  // namespace commpass
