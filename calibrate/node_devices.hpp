// Which devices the ranks of a calibration see. Private to the calibration.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "runtime/device/device_backend.hpp"

namespace commpass {

/// The devices of the node with most ranks, and what this rank has to do with them.
struct NodeDevices {
  int count = 0;                  ///< 0: there are none
  std::string why_none;           ///< in that case
  std::string kind, name;         ///< of the first one
  std::vector<Rank> sharers;      ///< ranks of the node that see the first one
  std::optional<Device> first;    ///< as this rank sees it, if it is one of these
  std::optional<Device> own;      ///< that of this rank, where ranks share those of their node evenly, in their order
  bool have_all_one = false;      ///< each rank of all nodes?
  bool are_known_to_mpi = false;  ///< by the MPI library, on all ranks

  explicit operator bool() const { return count > 0; }
};

/// Loads drivers and asks them. Collective.
NodeDevices find_node_devices(MPI_Comm comm, const Layout& layout);

}  // namespace commpass
