#include "runtime/plan/plan.hpp"

#include <optional>

#include "runtime/mpi/agreement.hpp"
#include "runtime/plan/opening.hpp"
#include "runtime/plan/planning.hpp"

namespace commpass {

bool PlannedMessage::may_stay_in_pieces() const {
  Bytes end = 0;
  for (const auto& [offset, its_place, size] : pieces) {
    const bool is_users = its_place.buffer == Place::Buffer::send || its_place.buffer == Place::Buffer::receive;
    if (!is_users || offset != end) return false;
    end += size;
  }
  return !pieces.empty() && end == bytes && !is_forwarded;
}

Plan make_plan(MPI_Comm comm, const Route& route, Window window, std::span<const SendEdge> sends,
               std::span<const ReceiveEdge> receives, Coalescing coalescing) {
  Failure failure;
  std::optional<Planning> planning;
  attempt(failure, [&] { planning.emplace(comm, route, window, coalescing, sends, receives); });
  const auto opening = open_planning(comm, failure, number_of(std::string()), planning ? planning->mismatch() : 0);
  if (opening.has_failed) agree(comm, failure);
  planning->finish(opening.are_edges_matched);
  return planning->take_plan();
}

}  // namespace commpass
