#include "runtime/mpi/agreement.hpp"

#include <fmt/format.h>

#include <new>

#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/ranks.hpp"

namespace commpass {

void agree(MPI_Comm comm, const std::string& message) {
  const Rank rank = rank_in(comm);
  const int size = ranks_in(comm);
  int first_failed = 0;
  const int mine = message.empty() ? size : rank;
  COMMPASS_MPI_CALL(MPI_Allreduce, &mine, &first_failed, 1, MPI_INT, MPI_MIN, comm);
  if (first_failed == size) return;
  throw Error(fmt::format("rank {}: {}", first_failed, broadcast(comm, message, first_failed)));
}

void assemble(MPI_Comm comm) {
  if (ranks_in(comm) == 1) return;
  NonblockingReduction everybody;
  insist([&] { everybody.start_barrier(comm); });
  everybody.wait();
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
