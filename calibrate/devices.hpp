// Private to the calibration: the devices of a node, their copies and messages. The last part, where there are devices.
#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/calibration.hpp"
#include "model/machine/layout.hpp"
#include "runtime/device/device_backend.hpp"
#include "runtime/device/device_queue.hpp"

namespace commpass {

/// The devices of the node with most ranks, as this rank sees them.
struct NodeDevices {
  int count = 0;                  ///< 0: no devices
  std::string why_none;           ///< in that case
  std::string kind, name;         ///< of the first device
  std::vector<Rank> sharers;      ///< ranks of the node that see the first device
  std::optional<Device> first;    ///< the first device, if this rank is a sharer
  std::optional<Device> own;      ///< of this rank, where ranks share the devices of their node evenly, in their order
  bool have_all_one = false;      ///< each rank of all nodes sees a device
  bool are_known_to_mpi = false;  ///< by the MPI library, on all ranks

  explicit operator bool() const { return count > 0; }
};

/// Loads drivers and asks them. Collective.
NodeDevices find_node_devices(MPI_Comm comm, const Layout& layout);

/// The share of the budget for devices, where there are some.
inline constexpr double devices_part = 0.25;

/// Measures copies between a device and host memory by 1, 2, 4 and 8 processes at once, copies within the device,
/// messages between devices where MPI takes their memory, and held-out exchanges of data on devices. Collective.
/// @param calibration  with a budget of its own; its machine has the parameters of host memory
void measure_devices(Calibration& calibration, const NodeDevices& devices);

/// The parts of measure_devices.
void measure_device_copies(Calibration& calibration, const NodeDevices& devices);
void measure_copies_within_device(Calibration& calibration, const NodeDevices& devices);
void measure_device_messages(Calibration& calibration, const NodeDevices& devices);
void check_staged(Calibration& calibration, const NodeDevices& devices);

/// An experiment: a batch of copies, begun and completed, on all ranks that have a queue at once. Collective.
/// @param queue   null: this rank only waits for the others
/// @param copies  of this rank
/// @throws Error, the same on every rank, if the driver of one refuses
/// @return the median over those ranks of the mean of `repetitions`
Seconds time_device_copies(MPI_Comm comm, DeviceQueue* queue, std::span<const LocalCopy> copies, Ends ends,
                           int repetitions);

}  // namespace commpass
