#include "runtime/mpi/agreement.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <new>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

void agree(MPI_Comm comm, const std::string& message, bool may_follow) {
  const std::int64_t size = ranks_in(comm), none = 2 * size;
  const std::int64_t mine = message.empty() ? none : rank_in(comm) + (may_follow ? size : 0);
  std::int64_t first = none;
  COMMPASS_MPI_CALL(MPI_Allreduce, &mine, &first, 1, MPI_INT64_T, MPI_MIN, comm);
  if (first == none) return;
  const auto failed = static_cast<Rank>(first % size);
  throw Error(fmt::format("rank {}: {}", failed, broadcast(comm, message, failed)));
}

void assemble(MPI_Comm comm) {
  if (ranks_in(comm) == 1) return;
  NonblockingReduction barrier;
  insist([&] { barrier.start_barrier(comm); });
  barrier.wait();
}

std::string sentence_of(const std::exception& error) noexcept {
  try {
    if (dynamic_cast<const std::bad_alloc*>(&error))
      return "there is not enough memory on this rank; free some, exchange less at once, or run fewer ranks on its "
             "node.";
    const std::string text = error.what();
    return text.empty() ? "unknown error." : text;
  } catch (const std::bad_alloc&) {
    return "out of memory.";  // short enough to need none
  }
}

std::string broadcast(MPI_Comm comm, const std::string& text, int root) {
  int length = static_cast<int>(text.size());
  COMMPASS_MPI_CALL(MPI_Bcast, &length, 1, MPI_INT, root, comm);
  auto result = insist([&] {
    auto copy = text;
    copy.resize(static_cast<std::size_t>(length));
    return copy;
  });
  COMMPASS_MPI_CALL(MPI_Bcast, result.data(), length, MPI_CHAR, root, comm);
  return result;
}

}  // namespace commpass
