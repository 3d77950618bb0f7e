#include "runtime/plan/planning.hpp"

#include "model/mixed.hpp"
#include "runtime/mpi/nonblocking_reduction.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/plan/planner.hpp"
#include "runtime/plan/planning.hpp"
#include "runtime/plan/sent_headers.hpp"

#include <array>

namespace commpass {

namespace {

// Sums modulo 2^64 are made of two that do not overflow.
constexpr unsigned half = 32;
constexpr std::uint64_t low_half = 0xFFFFFFFFU;
std::int64_t low(std::uint64_t number) { return static_cast<std::int64_t>(number & low_half); }
std::int64_t high(std::uint64_t number) { return static_cast<std::int64_t>(number >> half); }
bool is_zero(std::int64_t low_sum, std::int64_t high_sum) {
  return static_cast<std::uint64_t>(low_sum) + (static_cast<std::uint64_t>(high_sum) << half) == 0;
}

}  // namespace

std::uint64_t number_of(const std::string& strategy) {
  auto result = mixed({strategy.size()});
  for (const char letter : strategy) result = mixed({result, static_cast<unsigned char>(letter)});
  return result;
}

Opening open_planning(MPI_Comm comm, const Failure& failure, std::uint64_t named, std::uint64_t mismatch,
                      const DeviceUse& devices) {
  const auto ranks = static_cast<std::uint64_t>(ranks_in(comm));
  if (ranks == 1)
    return {.has_failed = static_cast<bool>(failure), .are_edges_matched = mismatch == 0, .devices = devices};
  // Rank 0 takes away what the others add, if all name the same.
  const auto name = rank_in(comm) == 0 ? named * (1 - ranks) : named;
  const std::array<std::int64_t, 7> mine{
      failure ? 1 : 0,           low(name), high(name), low(mismatch), high(mismatch), devices.is_used ? 1 : 0,
      devices.is_refused ? 1 : 0};
  NonblockingReduction sums;
  insist([&] { sums.start_sum(comm, mine); });
  sums.wait();
  const auto all = sums.result();
  return {all[0] > 0, is_zero(all[1], all[2]), is_zero(all[3], all[4]), {all[5] > 0, all[6] > 0}};
}

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
