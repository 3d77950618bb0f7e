#include "runtime/alltoall/library_alltoallv.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "model/base/error.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

#if MPI_VERSION >= 4

template <class Number>
void keep(const Numbers& numbers, std::vector<Number>& kept) {
  numbers.copy_to(kept);
}

#else

[[noreturn, gnu::noinline]] void refuse(Bytes number) {
  throw InputError("alltoallv by the MPI library", fmt::format("it has no number as large as {}", number),
                   "name another strategy than mpi");
}

int as_int(Bytes number) {
  if (std::abs(number) > largest_library_number) refuse(number);
  return static_cast<int>(number);
}

void keep(const Numbers& numbers, std::vector<int>& kept) {
  kept.clear();
  for (std::size_t i = 0; i < numbers.size(); ++i) kept.push_back(as_int(numbers[i]));
}

#endif

/// Where the library writes. Of a rank without blocks both buffers may be null, which MPICH refuses as the same one.
void* receive_buffer(const AlltoallCall& call) {
  static std::byte nothing{};
  const auto& receives = call.receives;
  if (call.sends.buffer || receives.buffer) return receives.writable();
  bool is_empty = receives.count == 0;
  for (std::size_t i = 0; i < receives.counts.size(); ++i) is_empty = is_empty && receives.counts[i] == 0;
  return is_empty ? &nothing : receives.writable();
}

}  // namespace

bool are_countable(const AlltoallCall& call) {
  if (call.shape() == CallSide::Shape::equal)
    return std::max(call.sends.count, call.receives.count) <= largest_library_number;
  if (call.are_int()) return true;
  for (const auto* const side : {&call.sends, &call.receives})
    for (const auto* const numbers : {&side->counts, &side->displacements})
      for (std::size_t i = 0; i < numbers->size(); ++i)
        if (std::abs((*numbers)[i]) > largest_library_number) return false;
  return true;
}

void LibraryAlltoall::keep_numbers(const AlltoallCall& call) {
  keep(call.sends.counts, sendcounts_);
  keep(call.sends.displacements, sdispls_);
  keep(call.receives.counts, recvcounts_);
  keep(call.receives.displacements, rdispls_);
}

void LibraryAlltoall::start(const AlltoallCall& call, MPI_Comm comm, MPI_Request* request) {
  const auto &sends = call.sends, &receives = call.receives;
  void* const received = receive_buffer(call);
  if (call.shape() == CallSide::Shape::equal) {
    COMMPASS_MPI_CALL(MPI_Ialltoall, sends.buffer, static_cast<int>(sends.count), sends.type, received,
                      static_cast<int>(receives.count), receives.type, comm, request);
    return;
  }
  keep_numbers(call);
#if MPI_VERSION >= 4
  COMMPASS_MPI_CALL(MPI_Ialltoallv_c, sends.buffer, sendcounts_.data(), sdispls_.data(), sends.type, received,
                    recvcounts_.data(), rdispls_.data(), receives.type, comm, request);
#else
  COMMPASS_MPI_CALL(MPI_Ialltoallv, sends.buffer, sendcounts_.data(), sdispls_.data(), sends.type, received,
                    recvcounts_.data(), rdispls_.data(), receives.type, comm, request);
#endif
}

void LibraryAlltoall::run(const AlltoallCall& call, MPI_Comm comm) {
  const auto &sends = call.sends, &receives = call.receives;
  void* const received = receive_buffer(call);
  if (call.shape() == CallSide::Shape::equal) {
#if MPI_VERSION >= 4
    COMMPASS_MPI_CALL(MPI_Alltoall_c, sends.buffer, sends.count, sends.type, received, receives.count, receives.type,
                      comm);
#else
    COMMPASS_MPI_CALL(MPI_Alltoall, sends.buffer, as_int(sends.count), sends.type, received, as_int(receives.count),
                      receives.type, comm);
#endif
    return;
  }
  if (call.are_int()) {
    COMMPASS_MPI_CALL(MPI_Alltoallv, sends.buffer, sends.counts.ints().data(), sends.displacements.ints().data(),
                      sends.type, received, receives.counts.ints().data(), receives.displacements.ints().data(),
                      receives.type, comm);
    return;
  }
  insist([&] { keep_numbers(call); });
#if MPI_VERSION >= 4
  COMMPASS_MPI_CALL(MPI_Alltoallv_c, sends.buffer, sendcounts_.data(), sdispls_.data(), sends.type, received,
                    recvcounts_.data(), rdispls_.data(), receives.type, comm);
#else
  COMMPASS_MPI_CALL(MPI_Alltoallv, sends.buffer, sendcounts_.data(), sdispls_.data(), sends.type, received,
                    recvcounts_.data(), rdispls_.data(), receives.type, comm);
#endif
}

}  // namespace commpass
