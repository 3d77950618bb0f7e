#include "runtime/agreement.hpp"

#include <fmt/format.h>

#include "runtime/mpi_error.hpp"
#include "runtime/ranks.hpp"

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

std::string broadcast(MPI_Comm comm, const std::string& text, int root) {
  int length = static_cast<int>(text.size());
  COMMPASS_MPI_CALL(MPI_Bcast, &length, 1, MPI_INT, root, comm);
  std::string result = text;
  result.resize(static_cast<std::size_t>(length));
  COMMPASS_MPI_CALL(MPI_Bcast, result.data(), length, MPI_CHAR, root, comm);
  return result;
}

}  // namespace commpass
