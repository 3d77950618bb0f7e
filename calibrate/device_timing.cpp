#include "calibrate/device_timing.hpp"

#include <algorithm>
#include <vector>

#include "model/median.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/common_start.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

Seconds time_device_copies(MPI_Comm comm, DeviceQueue* queue, std::span<const LocalCopy> copies, Ends ends,
                           int repetitions) {
  constexpr double only_waits = -1, has_failed = -2;
  double mine = only_waits;
  Failure failure;
  common_start(comm);  // who begins first would have the device alone
  if (queue) {
    mine = has_failed;
    attempt(failure, [&] {
      const double begin = MPI_Wtime();
      for (int i = 0; i < repetitions; ++i) {
        queue->copy(copies, ends);
        queue->wait();
      }
      mine = (MPI_Wtime() - begin) / repetitions;
    });
  }
  std::vector<double> all(static_cast<std::size_t>(ranks_in(comm)));
  COMMPASS_MPI_CALL(MPI_Allgather, &mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, comm);
  if (std::ranges::count(all, has_failed) > 0) agree(comm, failure);
  std::erase(all, only_waits);
  return median(std::move(all));
}

}  // namespace commpass
