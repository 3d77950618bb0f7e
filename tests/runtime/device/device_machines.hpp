// Machines with prices of devices, device support of the MPI library, and communicators with a stream.
#pragma once

#include <string>

#include "model/machine/profile.hpp"
#include "runtime/communicator.hpp"
#include "runtime/device/emulated_device.hpp"
#include "runtime/mpi/mpi_library.hpp"
#include "runtime/world.hpp"

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

/// A communicator of all ranks that uses a stream of the user.
struct StreamCommunicator : Communicator {
  explicit StreamCommunicator(const Machine& machine = some_machine(), const CommunicatorOptions& options = {})
      : Communicator(MPI_COMM_WORLD, machine, options) {
    use_stream(users.get());
  }
  const UsersStream users;
};

}  // namespace commpass::test
