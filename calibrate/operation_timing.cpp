#include "calibrate/operation_timing.hpp"

#include <array>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

PutWindow::PutWindow(MPI_Comm comm, std::span<std::byte> memory) {
  COMMPASS_MPI_CALL(MPI_Win_create, memory.data(), static_cast<MPI_Aint>(memory.size()), 1, MPI_INFO_NULL, comm,
                    &window_);
  COMMPASS_MPI_CALL(MPI_Win_set_errhandler, window_, MPI_ERRORS_RETURN);
}

PutWindow::~PutWindow() { MPI_Win_free(&window_); }

Seconds time_barrier(MPI_Comm comm, int repetitions) {
  return mean_seconds(comm, repetitions, [&] { COMMPASS_MPI_CALL(MPI_Barrier, comm); });
}

Seconds time_allreduce(MPI_Comm comm, int repetitions) {
  double value = 1, sum = 0;
  return mean_seconds(comm, repetitions,
                      [&] { COMMPASS_MPI_CALL(MPI_Allreduce, &value, &sum, 1, MPI_DOUBLE, MPI_SUM, comm); });
}

Seconds time_window(MPI_Comm comm, std::span<std::byte> memory, int repetitions) {
  return mean_seconds(comm, repetitions, [&] { const PutWindow window(comm, memory); });
}

Seconds time_puts(MPI_Comm comm, const PutWindow& window, int puts, int repetitions) {
  const Rank rank = rank_in(comm);
  const int ranks = ranks_in(comm);
  const std::array<std::byte, put_bytes> data{};
  COMMPASS_MPI_CALL(MPI_Win_fence, 0, window.get());
  return mean_seconds(comm, repetitions, [&] {
    for (int i = 0; i < puts; ++i) {
      // Evenly over all other ranks, each into a place of its own.
      const int step = static_cast<int>(std::int64_t{ranks - 1} * i / puts);
      const auto place = static_cast<MPI_Aint>((std::int64_t{rank} * puts_max + i) * put_bytes);
      COMMPASS_MPI_CALL(MPI_Put, data.data(), static_cast<int>(put_bytes), MPI_BYTE, (rank + 1 + step) % ranks, place,
                        static_cast<int>(put_bytes), MPI_BYTE, window.get());
    }
    COMMPASS_MPI_CALL(MPI_Win_fence, 0, window.get());
  });
}

}  // namespace commpass
