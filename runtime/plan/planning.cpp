#include "runtime/plan/planning.hpp"

#include "runtime/mpi/ranks.hpp"
#include "runtime/plan/expected_headers.hpp"
#include "runtime/plan/planner.hpp"
#include "runtime/plan/sent_headers.hpp"

namespace commpass {

struct Planning::Told {
  Planner planner;
  SentHeaders headers;

  explicit Told(const Planning& planning)
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
    told_ = std::make_unique<Told>(*this);
  }
}

Planning::~Planning() = default;

void Planning::finish(bool are_edges_matched, const std::function<void()>& then) {
  if (is_complete() && are_edges_matched) return;
  Failure failure;
  exchange_headers(failure);
  attempt(failure, [&] { then(); });  // which is not copied, for that might take memory
  agree(comm_, failure);
}

/// Plans with the headers of other ranks. Collective.
void Planning::exchange_headers(Failure& failure) {
  if (!told_) all_or_none(comm_, [&] { told_ = std::make_unique<Told>(*this); });
  auto& planner = told_->planner;
  const auto left = walk_stages(own_, planner.take_held(), std::ref(told_->headers), planner, failure);
  constexpr bool may_follow = true;  // what is missing may be lost on a rank that has failed
  attempt(
      failure, [&] { plan_ = planner.finish(left); }, may_follow);
}

}  // namespace commpass
