#include "runtime/alltoall/library_alltoallv.hpp"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "model/base/error.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/in_flight.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

#if MPI_VERSION >= 4

template <class Number>
void keep(const Numbers& numbers, std::vector<Number>& kept) {
  numbers.copy_to(kept);
}

#else

int as_int(Bytes number) {
  if (std::abs(number) > largest_library_number)
    throw InputError("alltoallv by the MPI library", fmt::format("it has no number as large as {}", number),
                     "name another strategy than mpi");
  return static_cast<int>(number);
}

void keep(const Numbers& numbers, std::vector<int>& kept) {
  kept.clear();
  for (std::size_t i = 0; i < numbers.size(); ++i) kept.push_back(as_int(numbers[i]));
}

#endif

}  // namespace

bool AlltoallvNumbers::are_countable() const {
  if (are_int()) return true;
  for (const auto* const numbers : {&sendcounts, &sdispls, &recvcounts, &rdispls})
    for (std::size_t i = 0; i < numbers->size(); ++i)
      if (std::abs((*numbers)[i]) > largest_library_number) return false;
  return true;
}

void LibraryNumbers::assign(const AlltoallvNumbers& numbers) {
  keep(numbers.sendcounts, sendcounts_);
  keep(numbers.sdispls, sdispls_);
  keep(numbers.recvcounts, recvcounts_);
  keep(numbers.rdispls, rdispls_);
}

void LibraryNumbers::start(const void* sendbuf, MPI_Datatype sendtype, void* recvbuf, MPI_Datatype recvtype,
                           MPI_Comm comm, MPI_Request* request) const {
#if MPI_VERSION >= 4
  COMMPASS_MPI_CALL(MPI_Ialltoallv_c, sendbuf, sendcounts_.data(), sdispls_.data(), sendtype, recvbuf,
                    recvcounts_.data(), rdispls_.data(), recvtype, comm, request);
#else
  COMMPASS_MPI_CALL(MPI_Ialltoallv, sendbuf, sendcounts_.data(), sdispls_.data(), sendtype, recvbuf, recvcounts_.data(),
                    rdispls_.data(), recvtype, comm, request);
#endif
}

void LibraryNumbers::run(const void* sendbuf, MPI_Datatype sendtype, void* recvbuf, MPI_Datatype recvtype,
                         MPI_Comm comm) const {
#if MPI_VERSION >= 4
  COMMPASS_MPI_CALL(MPI_Alltoallv_c, sendbuf, sendcounts_.data(), sdispls_.data(), sendtype, recvbuf,
                    recvcounts_.data(), rdispls_.data(), recvtype, comm);
#else
  COMMPASS_MPI_CALL(MPI_Alltoallv, sendbuf, sendcounts_.data(), sdispls_.data(), sendtype, recvbuf, recvcounts_.data(),
                    rdispls_.data(), recvtype, comm);
#endif
}

void announce_arrival(NonblockingReduction& arrival, MPI_Comm comm) {
  if (arrival.started()) arrival.wait();  // of the call before
  insist([&] { arrival.start_sum(comm, std::array<std::int64_t, 1>{}); });
  if (anything_is_in_flight()) arrival.wait();
}

void library_alltoall(const void* sendbuf, Bytes sendcount, MPI_Datatype sendtype, void* recvbuf, Bytes recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm) {
#if MPI_VERSION >= 4
  COMMPASS_MPI_CALL(MPI_Alltoall_c, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
#else
  COMMPASS_MPI_CALL(MPI_Alltoall, sendbuf, as_int(sendcount), sendtype, recvbuf, as_int(recvcount), recvtype, comm);
#endif
}

}  // namespace commpass
