// What an MPI library tells of its transport, by MPI's tools interface.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace commpass {

/// Names and values of the few settings that decide by what messages travel, as the library holds them now: Open MPI's
/// pml, btl and single copies, MPICH's device, and the variables of the environment that choose for UCX and libfabric.
/// Empty where nothing is told.
std::vector<std::pair<std::string, std::string>> transport_settings();

/// "btl tcp,self, btl_vader_single_copy_mechanism cma".
std::string transport_text();

}  // namespace commpass
