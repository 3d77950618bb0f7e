#include "runtime/neighbor/exchange_draft.hpp"

#include <algorithm>
#include <utility>

#include "model/error.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/plan/opening.hpp"

namespace commpass {

namespace {

void require_buffers(const BuffersAndEdges& given) {
  const auto has_bytes = [](const auto& edge) { return edge.bytes > 0; };
  if ((!given.send_buffer && std::ranges::any_of(given.sends, has_bytes)) ||
      (!given.receive_buffer && std::ranges::any_of(given.receives, has_bytes)))
    throw InputError("exchange", "a buffer is null but has edges", "give the buffer");
}

}  // namespace

void ExchangeDraft::begin(const Strategy& strategy, const PatternTables& tables) {
  route_ = make_route(strategy, context_.layout, tables);
  if (commpass::is_run_by_library(*route_) && !NeighborhoodCollective::is_available())
    throw NotApplicable(to_string(strategy), "the MPI library that runs has no neighbourhood collectives");
  require_buffers(given_);
  planning_.emplace(comm(), *route_, strategy.window, strategy.coalescing, given_.sends, given_.receives);
  if (planning_->is_complete()) take_plan();
}

void ExchangeDraft::begin_again(const KnownPlan& known, std::shared_ptr<NeighborGraph> graph) {
  require_buffers(given_);
  plan_ = known.plan;
  requests_ = known.decision.requests;
  graph_ = std::move(graph);
  make_executor(known.is_run_by_library);
}

bool ExchangeDraft::begin_with_all(const Strategy& strategy, Failure& failure) {
  const auto tables = share_tables(comm(), strategy, context_.layout, given_.sends);
  attempt(failure, [&] { begin(strategy, tables); });
  const auto opening = open_planning(comm(), failure, number_of(std::string()), mismatch());
  if (opening.has_failed) agree(comm(), failure);
  return opening.are_edges_matched;
}

std::unique_ptr<Executor> ExchangeDraft::make(const Strategy& strategy) {
  Failure failure;
  const bool are_edges_matched = begin_with_all(strategy, failure);
  return finish(are_edges_matched);
}

void ExchangeDraft::reset() {
  by_library_ = nullptr;
  executor_ = {};
  planning_.reset();
  graph_ = nullptr;
}

void ExchangeDraft::take_plan() {
  plan_ = std::make_shared<const Plan>(planning_->take_plan());
  make_executor(commpass::is_run_by_library(*route_));
}

void ExchangeDraft::make_executor(bool by_library) {
  std::unique_ptr<BatchRequests> requests;
  if (by_library) {
    auto own = std::make_unique<LibraryRequests>(*plan_, given_.send_buffer, given_.receive_buffer);
    by_library_ = own.get();
    requests = std::move(own);
  } else {
    requests = std::make_unique<PersistentRequests>(*plan_, address_.comm, address_.tag, given_.send_buffer,
                                                    given_.receive_buffer, context_.machine, largest_mpi_count,
                                                    host_memory(), requests_);
  }
  executor_ = std::make_unique<Executor>(std::move(requests));
}

std::unique_ptr<Executor> ExchangeDraft::finish(bool are_edges_matched) {
  if (planning_) planning_->finish(are_edges_matched, [&] { take_plan(); });
  if (by_library_) by_library_->connect(comm(), graph_);
  return std::move(executor_);
}

}  // namespace commpass
