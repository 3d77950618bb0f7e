// What an MPI library tells of its transport, by MPI's tools interface.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace commpass {

/// Names and values of the few settings that decide by what messages travel, as the library holds them now: Open MPI's
/// pml, btl and single copies, MPICH's device. Empty where it does not tell.
std::vector<std::pair<std::string, std::string>> transport_settings();

}  // namespace commpass
