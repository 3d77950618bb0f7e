// The record of a calibration that its profile holds. No MPI.
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

/// Messages of growing numbers of pairs at once, which share a rate.
struct MeasuredSharing {
  std::string parameter;             ///< "levels.node.up_rate_bytes_per_s", …
  std::string level;                 ///< of the messages
  Bytes bytes = 0;                   ///< of each message
  std::vector<int> pairs;            ///< active at once, growing from 1
  std::vector<Seconds> seconds;      ///< of a message, by number of pairs
  std::vector<Interval> interval_s;  ///< 95 %
};

/// An exchange that was not used for fitting: its prediction by the profile, and its time.
struct HeldOut {
  std::string exchange;  ///< its kind: "few large", …
  std::string strategy;
  Seconds predicted_s = 0, measured_s = 0;
  Interval measured_interval_s{};  ///< 95 %
  std::string part_of{};           ///< the exchange between all nodes, if this one is between two of them; else empty
  double error() const { return predicted_s / measured_s - 1; }
};

/// A node whose messages take longer than those of the others.
struct SlowNode {
  int node = 0;
  double times_as_long = 1;
  std::string host;  ///< on rank 0; a profile has no host names
};

/// Parts of a calibration in which lone messages between the nearest ranks took `another_pace` times their best time.
struct SlowPhases {
  int parts = 0, of = 0;     ///< slow ones, and all
  double times_as_long = 1;  ///< maximum
};

enum class CopyDirection { to_host, to_device };
constexpr const char* name_of(CopyDirection direction) {
  return direction == CopyDirection::to_host ? "device_to_host" : "host_to_device";
}
enum class HostPages { pinned, pageable };

/// A kind of copies between a device and host memory.
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
  std::string why_no_kernel;  ///< that packs many pieces; empty: there is one
  std::vector<CopyFit> copies;
  std::vector<ProtocolFit> fits;  ///< of messages between devices
  std::vector<HeldOut> held_out;  ///< exchanges of data on devices
};

/// Processors in use by other programs, from which on they disturb a calibration.
inline constexpr double busy_with_others = 0.3;

struct Provenance {
  std::string mpi_library, transport, partition;
  std::string layout;
  int nodes = 0, ranks = 0, ranks_per_node = 0;
  std::string host_hash;
  Fingerprint fingerprint;
  std::int64_t samples = 0, disturbed_rounds = 0;
  Seconds elapsed_s = 0;
  std::int64_t ping_pong_sizes = 0, ping_pong_unsettled = 0, ping_pong_outliers = 0;
  std::vector<ProtocolFit> fits;
  std::vector<MeasuredMessage> messages;  ///< input of the fits
  std::vector<MeasuredSharing> sharing;   ///< input of the shared rates
  std::vector<HeldOut> held_out;
  std::optional<MeasuredDevices> device;  ///< absent: there are none
  std::vector<SlowNode> slow_nodes;
  SlowPhases slow_phases;
  std::optional<LateMessages> late_messages;  ///< absent: none
  double others = 0;                          ///< processors that other programs kept busy
  std::vector<Pace> pace;                     ///< of small messages, the median over the calibration
  std::vector<std::string> not_measured;      ///< parameters with reasons
  std::vector<std::string> no_time_for;       ///< parameters for which the budget was too small
  std::string measured_again;                 ///< parameters, reason and result; empty: none
  std::string warning;                        ///< empty: none
};

/// The JSON object of a profile, with the current date.
std::string to_json(const Provenance& provenance);

}  // namespace commpass
