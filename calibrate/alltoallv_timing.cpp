#include "calibrate/alltoallv_timing.hpp"

#include "model/route/catalogue.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/alltoall/library_alltoallv.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/time_exchange.hpp"

namespace commpass {

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

Seconds AlltoallvBench::time(int repetitions, const std::function<void()>& exchange) {
  return time_exchange(comm_.get(),
                       [&] {
                         for (int i = 0; i < repetitions; ++i) exchange();
                       }) /
         repetitions;
}

Seconds AlltoallvBench::direct(int repetitions) {
  BlocksArgument sends, receives;
  return time(repetitions, [&] {
    sends.assign(Side::send, comm_.get(), send_.data(), sent_, offsets_, MPI_BYTE);
    receives.assign(Side::receive, comm_.get(), receive_.data(), received_, offsets_, MPI_BYTE);
    exchange_.run(structure_, sends.blocks<const std::byte*>(send_.data()), receives.blocks(receive_.data()));
  });
}

Seconds AlltoallvBench::by_library(int repetitions) {
  return time(repetitions, [&] {
    announce_arrival(arrival_, comm_.get());
    COMMPASS_MPI_CALL(MPI_Alltoallv, send_.data(), sent_.data(), offsets_.data(), MPI_BYTE, receive_.data(),
                      received_.data(), offsets_.data(), MPI_BYTE, comm_.get());
  });
}

}  // namespace commpass
