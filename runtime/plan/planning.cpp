#include "runtime/plan/planning.hpp"

#include "runtime/mpi/ranks.hpp"
#include "runtime/plan/opening.hpp"
#include "runtime/plan/planner.hpp"
#include "runtime/plan/sent_headers.hpp"

namespace commpass {

struct Planning::WithOthers {
  Planner planner;
  SentHeaders headers;

  explicit WithOthers(const Planning& planning)
      : planner(planning.own_, planning.sends_, planning.receives_),
        headers(planning.comm_, planning.own_.coalescing) {}
};

Planning::Planning(MPI_Comm comm, const Route& route, Window window, Coalescing coalescing,
                   std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives)
    : own_{route, window, coalescing, rank_in(comm), ranks_in(comm)}, comm_(comm), sends_(sends), receives_(receives) {
  if (edges_tell_all(route.stages().size(), coalescing)) {
    ExpectedHeaders expected(own_.rank, receives);
    plan_ = plan_alone(own_, sends, receives, std::ref(expected));
    mismatch_ = expected.mismatch();
  } else {
    with_others_ = std::make_unique<WithOthers>(*this);
  }
}

Planning::~Planning() = default;

void Planning::finish(bool are_edges_matched, const std::function<void()>& then) {
  if (is_complete() && are_edges_matched) return;
  Failure failure;
  exchange_headers(failure);
  attempt(failure, [&] { then(); });  // a copy of `then` might take memory
  agree(comm_, failure);
}

/// Plans with the headers of other ranks. Collective.
void Planning::exchange_headers(Failure& failure) {
  if (!with_others_) all_or_none(comm_, [&] { with_others_ = std::make_unique<WithOthers>(*this); });
  auto& planner = with_others_->planner;
  const auto left = walk_stages(own_, planner.take_held(), std::ref(with_others_->headers), planner, failure);
  constexpr bool may_follow = true;  // missing blocks may be lost on a rank that has failed
  attempt(
      failure, [&] { plan_ = planner.finish(left); }, may_follow);
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
