#include "calibrate/collective_timing.hpp"

#include "runtime/execute/library_requests.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

constexpr Bytes message_bytes = 8;  // so that it is the call that shows, not the bytes

Plan plan_of(Rank rank, int ranks, int messages) {
  Plan plan;
  auto& batch = plan.batches.emplace_back();
  for (int i = 0; i < messages; ++i) {
    const int distance = 1 + i % (ranks - 1);
    const Bytes offset = i * message_bytes;
    batch.sends.push_back({(rank + distance) % ranks, {Place::Buffer::send, offset}, message_bytes});
    batch.receives.push_back({(rank - distance + ranks) % ranks, {Place::Buffer::receive, offset}, message_bytes});
  }
  return plan;
}

Seconds time_of(Executor& executor, int repetitions, MPI_Comm comm) {
  COMMPASS_MPI_CALL(MPI_Barrier, comm);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repetitions; ++i) {
    executor.start();
    executor.wait();
  }
  Seconds elapsed = (MPI_Wtime() - begin) / repetitions, slowest = 0;
  COMMPASS_MPI_CALL(MPI_Allreduce, &elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
  return slowest;
}

}  // namespace

CollectiveBench::CollectiveBench(MPI_Comm comm, int messages, const Machine& machine)
    : comm_(comm), send_(static_cast<std::size_t>(messages * message_bytes)), receive_(send_.size()) {
  constexpr int tag = 1;
  const auto plan = plan_of(comm_.rank(), comm_.size(), messages);
  direct_.emplace(std::make_unique<PersistentRequests>(plan, comm_.get(), tag, send_.data(), receive_.data(), machine));
  auto by_library = std::make_unique<LibraryRequests>(plan, send_.data(), receive_.data());
  by_library->connect(comm_.get());
  by_library_.emplace(std::move(by_library));
}

Seconds CollectiveBench::direct(int repetitions) { return time_of(*direct_, repetitions, comm_.get()); }
Seconds CollectiveBench::by_library(int repetitions) { return time_of(*by_library_, repetitions, comm_.get()); }

}  // namespace commpass
