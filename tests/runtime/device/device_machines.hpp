// Machines with prices of devices, and what the MPI library here can do with their memory.
#pragma once

#include <string>

#include "model/machine/profile.hpp"
#include "runtime/mpi/device_aware.hpp"

namespace commpass::test {

inline bool is_device_aware() { return takes_cuda_memory().value_or(false); }

inline Machine lassen() { return read_profile(std::string(COMMPASS_TEST_PROFILES) + "/lassen.json").machine; }

/// Where copies between device and host take long, so that only addresses on devices are cheap.
inline Machine lassen_with_slow_copies() {
  auto machine = lassen();
  for (auto* copies : {&machine.device_to_host, &machine.host_to_device})
    for (auto& copy : *copies) copy.alpha_s = 1;
  return machine;
}

}  // namespace commpass::test
