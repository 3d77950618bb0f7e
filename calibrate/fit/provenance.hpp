// What a profile tells of the calibration that made it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/fit/fit.hpp"
#include "model/base/types.hpp"
#include "model/machine/late_messages.hpp"
#include "model/machine/pace.hpp"
#include "model/machine/profile_lookup.hpp"

namespace commpass {

struct ProtocolFit {
  std::string level;
  std::string protocol;
  Segment segment;
};

/// One way of a ping-pong of one size.
struct MeasuredMessage {
  std::string level;
  Bytes bytes = 0;
  Seconds seconds = 0;
  Interval interval_s{};  ///< 95 %
};

/// Messages of growing numbers of pairs of ranks at once, which share a rate.
struct MeasuredSharing {
  std::string parameter;             ///< "levels.node.up_rate_bytes_per_s", …
  std::string level;                 ///< of the messages
  Bytes bytes = 0;                   ///< of each message
  std::vector<int> pairs;            ///< that are active, growing from 1
  std::vector<Seconds> seconds;      ///< of a message of each, for as many
  std::vector<Interval> interval_s;  ///< 95 %
};

/// An exchange that no parameter was fitted to, as the finished profile predicts it and as it is.
struct HeldOut {
  std::string exchange;  ///< what it is like: "few large", …
  std::string strategy;
  Seconds predicted_s = 0, measured_s = 0;
  Interval measured_interval_s{};  ///< 95 %
  std::string part_of{};           ///< the exchange of all nodes, of which this one is between two; empty: no part
  double error() const { return predicted_s / measured_s - 1; }
};

/// A node whose messages take longer than those of the others.
struct SlowNode {
  int node = 0;
  double times_as_long = 1;
  std::string host;  ///< on rank 0; a profile tells no names
};

/// What was measured while the machine was not as fast as at its best: lone messages between the nearest ranks took
/// half as long again, or more.
struct SlowPhases {
  int parts = 0, of = 0;     ///< of the measurement
  double times_as_long = 1;  ///< at most
};

enum class CopyDirection { to_host, to_device };
constexpr const char* name_of(CopyDirection direction) {
  return direction == CopyDirection::to_host ? "device_to_host" : "host_to_device";
}
enum class HostPages { pinned, pageable };

/// Copies between a device and host memory.
struct CopyWay {
  CopyDirection direction{};
  HostPages memory{};
  auto operator<=>(const CopyWay&) const = default;
};

/// The line of the copies that `processes` make at once.
struct CopyFit {
  CopyWay way{};
  int processes = 1;
  Line line;  ///< of the bytes of all
  double median_relative_error = 0;
  int sizes = 0;
};

/// The devices whose copies and messages were measured.
struct MeasuredDevices {
  std::string kind, name;
  int per_node = 0;
  std::string why_no_kernel;  ///< with which many pieces are packed; empty: there is one
  std::vector<CopyFit> copies;
  std::vector<ProtocolFit> fits;  ///< of messages between devices
  std::vector<HeldOut> held_out;  ///< exchanges of data on devices
};

/// Processors. With as many or more in use by other programs, what was measured is not what the machine does.
inline constexpr double busy_with_others = 0.3;

struct Provenance {
  std::string mpi_library, transport, partition;
  std::string layout;
  int ranks = 0, ranks_per_node = 0;
  std::string host_hash;
  Fingerprint fingerprint;
  std::int64_t samples = 0, disturbed_rounds = 0;
  Seconds elapsed_s = 0;
  std::int64_t ping_pong_sizes = 0, ping_pong_unsettled = 0, ping_pong_outliers = 0;
  std::vector<ProtocolFit> fits;
  std::vector<MeasuredMessage> messages;  ///< that the fits are of
  std::vector<MeasuredSharing> sharing;   ///< that the rates which ranks share are of
  std::vector<HeldOut> held_out;
  std::optional<MeasuredDevices> device;  ///< absent: there are none
  std::vector<SlowNode> slow_nodes;
  SlowPhases slow_phases;
  std::optional<LateMessages> late_messages;  ///< absent: none are late
  double others = 0;                          ///< processors that other programs kept busy meanwhile
  std::vector<Pace> pace;                     ///< of small messages, the median over the calibration
  std::vector<std::string> not_measured;      ///< each: what, and why
  std::vector<std::string> no_time_for;       ///< those of them for which no time was left
  std::string measured_again;                 ///< what, why, and what came of it; empty: nothing
  std::string warning;                        ///< empty: none
};

/// As the JSON object that a profile holds, with the date of now.
std::string to_json(const Provenance& provenance);

}  // namespace commpass
