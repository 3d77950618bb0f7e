#include <optional>

#include "calibrate/devices.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/timed_start.hpp"

namespace commpass {

Seconds time_device_copies(MPI_Comm comm, DeviceQueue* queue, std::span<const LocalCopy> copies, Ends ends,
                           int repetitions) {
  std::optional<Seconds> mine;
  Failure failure;
  common_start(comm);  // an early rank would have the device alone
  if (queue)
    attempt(failure, [&] {
      const double begin = MPI_Wtime();
      for (int i = 0; i < repetitions; ++i) {
        queue->copy(copies, ends);
        queue->wait();
      }
      mine = (MPI_Wtime() - begin) / repetitions;
    });
  agree(comm, failure);
  return median_over_ranks(comm, mine);
}

}  // namespace commpass
