// Experiments with copies of devices.
#pragma once

#include <mpi.h>

#include <span>

#include "runtime/device/device_queue.hpp"

namespace commpass {

/// A batch of copies, begun and waited for, on all ranks that have a queue at once. Collective.
/// @param queue   null: this rank only waits for the others
/// @param copies  of this rank
/// @throws Error, the same on every rank, if the driver of one refuses
/// @return the median over those ranks of the mean of `repetitions`
Seconds time_device_copies(MPI_Comm comm, DeviceQueue* queue, std::span<const LocalCopy> copies, Ends ends,
                           int repetitions);

}  // namespace commpass
