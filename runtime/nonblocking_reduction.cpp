#include "runtime/nonblocking_reduction.hpp"

#include "runtime/mpi_error.hpp"

namespace commpass {

NonblockingReduction::~NonblockingReduction() {
  if (request_ != MPI_REQUEST_NULL && mpi_is_usable()) MPI_Wait(&request_, MPI_STATUS_IGNORE);
}

void NonblockingReduction::start_tally(MPI_Comm comm, std::vector<std::int64_t> tally, const TallyOperation& operation) {
  started_ = true;
  numbers_ = std::move(tally);
  result_.resize(numbers_.size());
  COMMPASS_MPI_CALL(MPI_Iallreduce, numbers_.data(), result_.data(), 1, operation.type(), operation.operation(), comm, &request_);
}

void NonblockingReduction::start_sum(MPI_Comm comm, std::vector<std::int64_t> numbers) {
  started_ = true;
  numbers_ = std::move(numbers);
  result_.resize(numbers_.size());
  COMMPASS_MPI_CALL(MPI_Iallreduce, numbers_.data(), result_.data(), static_cast<int>(numbers_.size()), MPI_INT64_T, MPI_SUM, comm, &request_);
}

void NonblockingReduction::start_scattered_sum(MPI_Comm comm, std::vector<std::int64_t> numbers) {
  started_ = true;
  numbers_ = std::move(numbers);
  int ranks = 0;
  COMMPASS_MPI_CALL(MPI_Comm_size, comm, &ranks);
  result_.resize(numbers_.size() / static_cast<std::size_t>(ranks));
  COMMPASS_MPI_CALL(MPI_Ireduce_scatter_block, numbers_.data(), result_.data(), static_cast<int>(result_.size()), MPI_INT64_T, MPI_SUM, comm, &request_);
}

bool NonblockingReduction::test() {
  int done = 0;
  COMMPASS_MPI_CALL(MPI_Test, &request_, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

}  // namespace commpass
