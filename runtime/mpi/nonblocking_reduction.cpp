#include "runtime/mpi/nonblocking_reduction.hpp"

#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/sparse/sparse_tally.hpp"

namespace commpass {

struct NonblockingReduction::Running {
  std::vector<std::int64_t> numbers;
  MPI_Request request = MPI_REQUEST_NULL;
};

NonblockingReduction::NonblockingReduction() = default;

NonblockingReduction::~NonblockingReduction() {
  if (running_ && running_->request != MPI_REQUEST_NULL && mpi_is_usable())
    wait_for_all(1, &running_->request, MPI_STATUSES_IGNORE);
}

void NonblockingReduction::start_tally(MPI_Comm comm, std::vector<std::int64_t> tally,
                                       const TallyOperation& operation) {
  result_.resize(tally.size());
  running_ = std::make_unique<Running>(Running{std::move(tally)});
  COMMPASS_MPI_CALL(MPI_Iallreduce, running_->numbers.data(), result_.data(), 1, operation.type(),
                    operation.operation(), comm, &running_->request);
}

void NonblockingReduction::start_sum(MPI_Comm comm, std::span<const std::int64_t> numbers) {
  result_.resize(numbers.size());
  auto running = running_ ? std::move(running_) : std::make_unique<Running>();
  running->numbers.assign(numbers.begin(), numbers.end());
  running_ = std::move(running);
  COMMPASS_MPI_CALL(MPI_Iallreduce, running_->numbers.data(), result_.data(), static_cast<int>(result_.size()),
                    MPI_INT64_T, MPI_SUM, comm, &running_->request);
}

void NonblockingReduction::start_scattered_sum(MPI_Comm comm, std::vector<std::int64_t> numbers) {
  const int ranks = ranks_in(comm);
  result_.resize(numbers.size() / static_cast<std::size_t>(ranks));
  running_ = std::make_unique<Running>(Running{std::move(numbers)});
  COMMPASS_MPI_CALL(MPI_Ireduce_scatter_block, running_->numbers.data(), result_.data(),
                    static_cast<int>(result_.size()), MPI_INT64_T, MPI_SUM, comm, &running_->request);
}

void NonblockingReduction::start_barrier(MPI_Comm comm) {
  running_ = std::make_unique<Running>();
  COMMPASS_MPI_CALL(MPI_Ibarrier, comm, &running_->request);
}

bool NonblockingReduction::test() {
  int done = 0;
  COMMPASS_MPI_CALL(MPI_Test, &running_->request, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

void NonblockingReduction::wait() { check_mpi("MPI_Wait", wait_for_all(1, &running_->request, MPI_STATUSES_IGNORE)); }

}  // namespace commpass
