#include "calibrate/library_call_timing.hpp"

#include <memory>

#include "calibrate/operation_timing.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/alltoall/library_alltoallv.hpp"
#include "runtime/execute/library_requests.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

constexpr Bytes message_bytes = 8;  // small, so that the call dominates

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
  Seconds seconds = (MPI_Wtime() - begin) / repetitions;
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
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

AlltoallvBench::AlltoallvBench(MPI_Comm comm, const Layout& layout, int messages, Bytes bytes)
    : comm_(comm),
      structure_(make_alltoall_structure(comm_.get(), *make_route(parse_strategy("standard"), layout), {},
                                         Coalescing::coalesced)),
      exchange_(comm_.get()) {
  const int ranks = comm_.size(), size = static_cast<int>(bytes);
  const auto index = [&](Rank rank) { return static_cast<std::size_t>((rank + ranks) % ranks); };
  sent_.resize(static_cast<std::size_t>(ranks));
  received_.resize(sent_.size());
  for (Rank rank = 0; rank < ranks; ++rank) offsets_.push_back(rank * size);
  for (int distance = 1; distance <= messages; ++distance)
    sent_[index(comm_.rank() + distance)] = received_[index(comm_.rank() - distance)] = size;
  send_.resize(static_cast<std::size_t>(ranks * bytes));
  receive_.resize(send_.size());
}

Seconds AlltoallvBench::direct(int repetitions) {
  BlocksArgument sends, receives;
  return mean_seconds(comm_.get(), repetitions, [&] {
    sends.assign(Side::send, comm_.get(), send_.data(), sent_, offsets_, MPI_BYTE);
    receives.assign(Side::receive, comm_.get(), receive_.data(), received_, offsets_, MPI_BYTE);
    exchange_.run(structure_, sends.blocks<const std::byte*>(send_.data()), receives.blocks(receive_.data()));
  });
}

Seconds AlltoallvBench::by_library(int repetitions) {
  return mean_seconds(comm_.get(), repetitions, [&] {
    announce_arrival(arrival_, comm_.get());
    COMMPASS_MPI_CALL(MPI_Alltoallv, send_.data(), sent_.data(), offsets_.data(), MPI_BYTE, receive_.data(),
                      received_.data(), offsets_.data(), MPI_BYTE, comm_.get());
  });
}

}  // namespace commpass
