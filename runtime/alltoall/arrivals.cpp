#include "runtime/alltoall/arrivals.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

NodeCounters::~NodeCounters() {
  if (!all_.empty()) munmap(all_.data(), all_.size_bytes());
}

void NodeCounters::open(MPI_Comm comm) {
  const bool is_first = rank_in(comm) == 0;
  const auto ranks = static_cast<std::size_t>(ranks_in(comm));
  const auto bytes = ranks * sizeof(Counter);
  std::array<char, 64> name{};
  if (is_first)  // which no memory has that a killed process has left
    std::snprintf(name.data(), name.size(), "/commpass-%ld-%lld", static_cast<long>(getpid()),
                  static_cast<long long>(std::chrono::system_clock::now().time_since_epoch().count()));
  COMMPASS_MPI_CALL(MPI_Bcast, name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, comm);
  constexpr mode_t of_user = S_IRUSR | S_IWUSR;
  int file = is_first ? shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, of_user) : -1;
  if (is_first && file >= 0 && posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) {
    close(file);
    file = -1;
  }
  COMMPASS_MPI_CALL(MPI_Barrier, comm);
  if (!is_first) file = shm_open(name.data(), O_RDWR, of_user);
  void* const memory = file < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  int is_there = memory == MAP_FAILED ? 0 : 1;  // NOLINT: the system's macro
  if (is_there) all_ = {static_cast<Counter*>(memory), ranks};
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, &is_there, 1, MPI_INT, MPI_MIN, comm);
  if (is_first) shm_unlink(name.data());
  if (is_there || all_.empty()) return;
  munmap(memory, bytes);
  all_ = {};
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
