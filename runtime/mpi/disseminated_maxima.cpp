#include "runtime/mpi/disseminated_maxima.hpp"

#include <algorithm>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

DisseminatedMaxima::DisseminatedMaxima(MPI_Comm comm, int tag, std::size_t numbers_max)
    : comm_(comm), tag_(tag), rank_(rank_in(comm)), ranks_(ranks_in(comm)), sent_(numbers_max), received_(numbers_max) {
  requests_.assign(2, MPI_REQUEST_NULL);
}

void DisseminatedMaxima::begin(std::span<double> numbers) {
  numbers_ = numbers;
  distance_ = 1;
}

void DisseminatedMaxima::begin_round() {
  const auto step = static_cast<Rank>(distance_);
  const auto count = static_cast<int>(numbers_.size());
  std::ranges::copy(numbers_, sent_.begin());
  COMMPASS_MPI_CALL(MPI_Irecv, received_.data(), count, MPI_DOUBLE, (rank_ - step + ranks_) % ranks_, tag_, comm_,
                    &requests_.front());
  COMMPASS_MPI_CALL(MPI_Isend, sent_.data(), count, MPI_DOUBLE, static_cast<Rank>((rank_ + distance_) % ranks_), tag_,
                    comm_, &requests_.back());
}

void DisseminatedMaxima::end_round() {
  std::ranges::transform(numbers_, received_, numbers_.begin(), [](double a, double b) { return std::max(a, b); });
  distance_ *= 2;
}

}  // namespace commpass
