// What an MPI library tells of its transport.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace commpass {

/// Names and values of the few settings that decide by what messages travel, as the library holds them now: Open MPI's
/// pml, btl and single copies (by MPI's tools interface, which takes a while to open), MPICH's device, and the
/// variables of the environment that choose for UCX and libfabric. Empty where nothing is told.
std::vector<std::pair<std::string, std::string>> transport_settings();

/// Those of them that were asked for, by a launcher's switches or the environment: "btl tcp,self,
/// btl_vader_single_copy_mechanism cma". Fast: every communicator asks. Settings in Open MPI's parameter files are not
/// seen.
std::string transport_text();

}  // namespace commpass
