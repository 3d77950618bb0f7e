// Data on devices that goes through host memory: what copying it there and back takes. Private to the model.
#pragma once

#include <span>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/route/data_path.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

/// A copy by `processes` processes at once. Between measured numbers α and β are interpolated; beyond them the nearest
/// one stands in.
/// @param measured  not empty, in any order
DeviceCopy copy_by(std::span<const DeviceCopy> measured, int processes);

/// The seconds that each rank is busy with its copies in one direction, all at once.
///
/// Ranks with data share the devices of their node evenly, in the order of ranks; without devices_per_node each has its
/// own. The n ranks on a device copy with n·copies processes, at most as many as the node has ranks. While several are
/// at it, they share what the device moves in equal parts, so that a rank with s_i of s bytes takes α + β·Σ min(s_j,
/// s_i).
/// @param bytes     by rank; 0: it copies nothing
/// @param measured  not empty unless no rank has bytes
std::vector<Seconds> device_copy_seconds(std::span<const Bytes> bytes, std::span<const DeviceCopy> measured, int copies,
                                         const Layout& layout, std::optional<int> devices_per_node);

/// What ranks do before an exchange on host memory, and behind it.
struct Staging {
  std::vector<Seconds> to_host, to_device;  ///< by rank
  Bytes sent_max = 0, received_max = 0;     ///< by a rank
};

/// Each rank copies what it sends to host memory, at once, and what it receives to its device when all has arrived.
/// @throws InputError if the machine has no copies
Staging stage_through_host(const Schedule& schedule, const DataPath& path, const Layout& layout,
                           const Machine& machine);

/// Those two, as stages of a cost without times.
inline constexpr auto *to_host_label = "copies to host memory", *to_device_label = "copies to devices";

}  // namespace commpass
