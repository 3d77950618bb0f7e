#include "calibrate/sampling.hpp"

#include "calibrate/fit.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

bool Series::settled() const {
  constexpr std::size_t least = 9;
  constexpr double precision = 0.03;
  if (samples.size() < least) return false;
  const auto interval = median_interval(samples);
  return interval.high - interval.low <= precision * middle();
}

Sampler::Sampler(MPI_Comm comm, Seconds budget_s) : comm_(comm), begin_(MPI_Wtime()), budget_s_(budget_s) {}

bool Sampler::has_spent(double share) const {
  int over = spent() >= share;
  COMMPASS_MPI_CALL(MPI_Bcast, &over, 1, MPI_INT, 0, comm_);
  return over != 0;
}

}  // namespace commpass
