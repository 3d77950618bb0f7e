#include "runtime/neighbor/exchange_draft.hpp"

#include <algorithm>
#include <utility>

#include "model/base/error.hpp"
#include "runtime/choose/gather_pattern.hpp"
#include "runtime/device/device_requests.hpp"
#include "runtime/device/shared_requests.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/execute/pushed_requests.hpp"
#include "runtime/indexed/summing_requests.hpp"
#include "runtime/indexed/value_runs.hpp"
#include "runtime/mpi/neighborhood_collective.hpp"
#include "runtime/plan/planning.hpp"

namespace commpass {

namespace {

void require_buffers(const BuffersAndEdges& given) {
  const auto has_bytes = [](const auto& edge) { return edge.bytes > 0; };
  if ((!given.send_buffer && std::ranges::any_of(given.sends, has_bytes)) ||
      (!given.receive_buffer && std::ranges::any_of(given.receives, has_bytes)))
    throw InputError("exchange", "a buffer is null but has edges", "give the buffer");
}

}  // namespace

Bytes BuffersAndEdges::added_value_bytes() const { return sums ? sums->value_bytes : 0; }

void ExchangeDraft::begin(const Strategy& strategy, const PatternTables& tables) {
  route_ = make_route(strategy, context_.layout, tables);
  if (is_run_by_library(*route_) && !NeighborhoodCollective::is_available())
    throw NotApplicable(to_string(strategy), "the MPI library that runs has no neighbourhood collectives");
  require_buffers(given_);
  path_ = strategy.path;
  planning_.emplace(comm(), *route_, strategy.window, strategy.coalescing, given_.sends, given_.receives);
  if (planning_->is_complete()) take_plan();
}

void ExchangeDraft::begin_again(const KnownWay& known, std::shared_ptr<NeighborGraph> graph) {
  require_buffers(given_);
  plan_ = known.plan;
  path_ = known.path;
  graph_ = std::move(graph);
  transpose();
  if (!path_.is_shared) make_all_requests(known.is_run_by_library);
}

bool ExchangeDraft::begin_with_all(const Strategy& strategy, Failure& failure) {
  auto tables = share_tables(comm(), strategy, context_.layout, given_.sends);
  if (given_.sums) tables.traffic.unit = given_.sums->value_bytes;
  attempt(failure, [&] { begin(strategy, tables); });
  const auto opening = open_planning(comm(), failure, number_of(std::string()), mismatch());
  if (opening.has_failed) agree(comm(), failure);
  return opening.are_edges_matched;
}

std::unique_ptr<BatchRequests> ExchangeDraft::make(const Strategy& strategy) {
  Failure failure;
  const bool are_edges_matched = begin_with_all(strategy, failure);
  return finish(are_edges_matched);
}

void ExchangeDraft::share_copies(int copies) {
  shared_ = std::make_shared<SharedCopies>(context_, address_, given_, copies);
  given_ = shared_->on_host();
}

void ExchangeDraft::reset() {
  by_library_ = nullptr;
  requests_ = {};
  planning_.reset();
  plan_ = nullptr;
  back_.reset();
  graph_ = nullptr;
}

void ExchangeDraft::take_plan() {
  plan_ = std::make_shared<const Plan>(planning_->take_plan());
  transpose();
  if (!path_.is_shared) make_all_requests(is_run_by_library(*route_));
}

void ExchangeDraft::transpose() {
  if (given_.sums) back_ = transposed(*plan_);
}

/// When all have a plan: the requests of one whose messages within nodes go through shared memory.
void ExchangeDraft::share_memory() {
  landings_ = Landings::share(context_, run());
  landing_bytes_ = landings_ ? landings_->bytes() : 0;
  all_or_none(comm(), [&] { make_all_requests(false); });
}

void ExchangeDraft::make_all_requests(bool by_library) {
  staging_bytes_ = shared_ ? shared_->bytes() : 0;
  if (given_.sides.any()) {
    requests_ = requests_on_device(by_library);
  } else {
    auto& memory = given_.are_values && !shared_ ? value_memory() : host_memory();
    requests_ = make_requests(run(), given_.send_buffer, given_.receive_buffer, memory, by_library);
    if (shared_) requests_ = std::make_unique<SharedRequests>(shared_, address_, std::move(requests_));
  }
}

/// Stages data on a device, unless the path names another way.
std::unique_ptr<BatchRequests> ExchangeDraft::requests_on_device(bool by_library) {
  const auto& sides = given_.sides;
  if (path_.kind == DataPath::Kind::device) {
    if (!sides.device().backend->is_known_to_mpi())
      throw InputError("exchange",
                       std::string("the MPI library does not take ") + sides.device().backend->name() +
                           " memory, or does not say that it does",
                       "use @staged in place of @device, or an MPI library that is device-aware");
    auto requests = std::make_unique<DeviceRequests>(sides, context_.stream);
    requests->surround(
        make_requests(*plan_, given_.send_buffer, given_.receive_buffer, requests->memory(), by_library));
    return requests;
  }
  auto requests = std::make_unique<StagedRequests>(given_, context_.comm.rank(), context_.stream, *plan_);
  requests->surround(make_requests(requests->host_plan(*plan_), requests->host_send_buffer(),
                                   requests->host_receive_buffer(), host_memory(), by_library));
  staging_bytes_ = requests->bytes();
  return requests;
}

std::unique_ptr<BatchRequests> ExchangeDraft::make_requests(const Plan& plan, const void* send_buffer,
                                                            void* receive_buffer, Memory& memory, bool by_library) {
  const auto with_sums = [&](std::unique_ptr<BatchRequests> requests, const PlanBuffers& buffers) {
    if (!back_) return requests;
    auto sums = std::make_unique<SummingRequests>(*back_, buffers, *given_.sums);
    sums->surround(std::move(requests));
    return std::unique_ptr<BatchRequests>(std::move(sums));
  };
  if (by_library) {
    auto own = std::make_unique<LibraryRequests>(plan, send_buffer, receive_buffer, memory);
    by_library_ = own.get();
    return with_sums(std::move(own), by_library_->buffers());
  }
  // MPI libraries copy pieces in device memory one after another, if they take derived datatypes there.
  static const Machine without_datatypes;
  const auto& machine = &memory == &host_memory() ? context_.machine : without_datatypes;
  const auto by_messages = [&](const Plan& of) {
    return std::make_unique<PersistentRequests>(of, address_.comm, address_.tag, send_buffer, receive_buffer, machine,
                                                memory, life_, context_.send_limits());
  };
  auto [own, buffers] = push_where_shared(plan, std::move(landings_), address_.comm, memory, by_messages);
  return with_sums(std::move(own), buffers);
}

std::unique_ptr<BatchRequests> ExchangeDraft::finish(bool are_edges_matched) {
  if (planning_) planning_->finish(are_edges_matched, [&] { take_plan(); });
  if (path_.is_shared) share_memory();
  if (by_library_) by_library_->connect(comm(), graph_);
  return std::move(requests_);
}

}  // namespace commpass
