// Copies and messages of devices: the last part of a calibration, where there are devices. Private to the calibration.
#pragma once

#include "calibrate/calibration.hpp"
#include "calibrate/node_devices.hpp"

namespace commpass {

/// Of the budget, where there are devices.
inline constexpr double devices_part = 0.25;

/// Measures copies between one device and host memory by 1, 2, 4 and 8 processes at once, copies within it, and
/// messages between devices where MPI takes their memory; and exchanges of data on devices that no fit has seen.
/// Collective.
/// @param calibration  with a budget of its own; its machine has what was found of host memory
void measure_devices(Calibration& calibration, const NodeDevices& devices);

/// The parts of that.
void measure_device_copies(Calibration& calibration, const NodeDevices& devices);
void measure_copies_within_device(Calibration& calibration, const NodeDevices& devices);
void measure_device_messages(Calibration& calibration, const NodeDevices& devices);
void check_staged(Calibration& calibration, const NodeDevices& devices);

}  // namespace commpass
