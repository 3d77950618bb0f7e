// Copies of simulated devices.
#pragma once

namespace simulation {

/// Lets time of this rank pass in which `processes` processes at once copy between host memory and a device of a node,
/// each its part of the bytes.
void copy_device(int node, int device, double bytes, int processes = 1);

}  // namespace simulation
