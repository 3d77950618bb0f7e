// The settings that decide by what an MPI library transports messages.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace commpass {

/// Names and values of these settings, as the library holds them now: Open MPI's pml, btl and single copies (by MPI's
/// tools interface, which takes milliseconds to open), MPICH's device, and the variables of the environment that choose
/// for UCX and libfabric. Empty where there are none.
std::vector<std::pair<std::string, std::string>> transport_settings();

/// Those of them that a launcher's switches or the environment set: "btl tcp,self, btl_vader_single_copy_mechanism
/// cma". Fast: every communicator asks. Does not read Open MPI's parameter files.
std::string transport_text();

}  // namespace commpass
