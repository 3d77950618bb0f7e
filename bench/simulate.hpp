// Runs our MPI programs on a simulated cluster (SimGrid SMPI), and reads what they print.
#pragma once

#include <string>
#include <vector>

namespace commpass::bench {

/// Where things are; see `simulation_options`.
struct Simulator {
  std::string programs;  ///< directory of the programs built with smpicxx
  std::string platform;  ///< the platform library (tests/simulation/platform.cpp)
  std::string clusters;  ///< directory of cluster descriptions
  std::string scratch;   ///< existing directory for programs, host files, profiles, outputs and logs
  std::string profiles;  ///< directory of the clusters' profiles, if another benchmark has made them; empty: none has
  int calibration_noise = 0;  ///< seed of random delays while profiles are made (tests/simulation/noise.hpp); 0: none
};

/// A cluster description: what a run needs to know of it.
struct ClusterShape {
  std::string name;
  int sockets = 0;
  int cores = 0;              ///< of a socket
  std::string file;           ///< the description
  int group_nodes = 0;        ///< nodes of each group that layouts tell of; 0: of none
  int calibration_nodes = 2;  ///< on which all its limits show
  int ppn() const { return sockets * cores; }
};

/// The descriptions in a folder of `simulator.clusters`, by name; none if that is not there: a user's clusters
/// need not be of all kinds.
/// @throws InputError if there is no such directory
std::vector<ClusterShape> clusters_of_kind(const Simulator& simulator, const std::string& folder);

/// @throws InputError if there is no cluster
void require_some(const Simulator& simulator, const std::vector<ClusterShape>& clusters);

/// Those in the directory itself, or in the folders, one after the other.
/// @throws InputError if there is no such directory, or no cluster
std::vector<ClusterShape> clusters(const Simulator& simulator, const std::vector<std::string>& folders = {"."});

/// The layout of P ranks, node after node, as --layout takes it.
std::string layout_of(const ClusterShape& cluster, int ranks);

/// Runs a program on the first P cores of a cluster. Several threads may.
/// @param arguments  of the program, shell-quoted where needed
/// @param noise      seed of random delays (tests/simulation/noise.hpp); 0: none
/// @return its standard output
/// @throws Error with the end of its log if it fails or does not end; a deadlock in the simulator ends with exit code
/// 0,
///         so output is looked at, too
std::string simulate(const Simulator& simulator, const ClusterShape& cluster, int ranks, const std::string& program,
                     const std::string& arguments, int noise = 0);

/// The profiles that `commpass calibrate` writes on the `calibration_nodes` of each cluster, made anew unless there are
/// some.
/// @return their files
std::vector<std::string> calibrate_all(const Simulator& simulator, const std::vector<ClusterShape>& clusters);

}  // namespace commpass::bench
