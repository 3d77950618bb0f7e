// Exchanges of data on the devices of simulated clusters (tests/clusters/devices): is the path that is chosen, by
// pointers or through host memory, the fastest?
#pragma once

#include <string>
#include <vector>

#include "bench/simulate.hpp"
#include "model/machine/machine.hpp"

namespace commpass::bench {

inline constexpr int device_nodes = 4;  ///< of every case

/// Of the clusters with devices only that of quick runs.
void keep_quick(std::vector<ClusterShape>& clusters);

/// A cluster with devices and what calibrations found: in its host memory, in its devices' memory, which is a
/// simulation of its own, and of copies between them.
struct DeviceCluster {
  ClusterShape host, device;
  Machine machine;
  std::string profile;  ///< of the host
};

/// The calibrated clusters of the folder `devices`; none where there is no such folder.
/// @param quick  only one of them
std::vector<DeviceCluster> device_clusters(const Simulator& simulator, bool quick);

struct DeviceCase {
  const char* name;
  const char* generator;  ///< "{0}" stands for the number of ranks
  bool only_owners;       ///< have only as many ranks of a node data as it has devices? The others are helpers
  bool quick;
};

inline constexpr DeviceCase device_cases[] = {{"8 x 64 B", "random:ranks={0},bytes=64,degree=8", false, true},
                                              {"12 x 4 KiB", "random:ranks={0},bytes=4KiB,degree=12", false, false},
                                              {"12 x 64 KiB", "random:ranks={0},bytes=64KiB,degree=12", false, true},
                                              {"4 x 1 MiB", "random:ranks={0},bytes=1MiB,degree=4", false, false},
                                              {"owners: all x 1 KiB", "alltoall:ranks={0},bytes=1KiB", true, false},
                                              {"owners: all x 256 KiB", "alltoall:ranks={0},bytes=256KiB", true, true}};

struct DeviceResult {
  std::string cluster, pattern, chosen, best;
  double regret = 1, chosen_error = 0;
  double speedup = 1;  ///< over sending directly from devices
  std::vector<double> predicted_s, measured_s;
  std::vector<double> errors;  ///< |predicted / measured − 1| of every candidate that was run
};

/// Ranks all candidates on all paths, and runs the cheapest of each route and path.
DeviceResult run_device_case(const Simulator& simulator, const DeviceCluster& cluster, const DeviceCase& which);

}  // namespace commpass::bench
