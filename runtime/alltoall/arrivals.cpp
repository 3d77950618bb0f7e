#include "runtime/alltoall/arrivals.hpp"

#include <algorithm>
#include <array>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

void NodeCounters::open(MPI_Comm comm) {
  memory_.open(comm, sizeof(Counter));
  const auto bytes = memory_.all();
  if (!bytes.empty()) all_ = {reinterpret_cast<Counter*>(bytes.data()), bytes.size() / sizeof(Counter)};
}

/// Where it is not known yet how, it is found out.
void Arrivals::announce_by_reduction(MPI_Comm comm) {
  if (is_one_node_ && !is_open_) {
    is_open_ = true;
    assemble(comm);
    counters_.open(comm);
    if (const auto all = counters_.all(); !all.empty()) {
      own_ = &all[static_cast<std::size_t>(rank_in(comm))].number;
      return announce(comm);
    }
  }
  complete();  // of the call before
  insist([&] { reduction_.start_sum(comm, std::array<std::int64_t, 1>{}); });
  if (anything_is_in_flight()) reduction_.wait();
}

/// The MPI library moves nothing on while memory is read, so it is called in each turn.
void Arrivals::wait_for_all_in(std::int64_t call, MPI_Comm comm) const {
  const auto has_come = [&](const NodeCounters::Counter& of) {
    return of.number.load(std::memory_order_acquire) >= call;
  };
  wait_until([&] {
    int found = 0;
    COMMPASS_MPI_CALL(MPI_Iprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
    return std::ranges::all_of(counters_.all(), has_come);
  });
}

void Arrivals::complete() {
  if (reduction_.started()) reduction_.wait();
}

}  // namespace commpass
