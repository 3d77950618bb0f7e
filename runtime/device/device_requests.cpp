#include "runtime/device/device_requests.hpp"

#include <utility>

namespace commpass {

namespace {

const std::byte* at(const void* buffer, Bytes offset) { return static_cast<const std::byte*>(buffer) + offset; }
std::byte* at(void* buffer, Bytes offset) { return static_cast<std::byte*>(buffer) + offset; }

/// The ranges of edges to or from other ranks.
template <class Edge>
std::vector<StagedRanges::Range> ranges_of_others(std::span<const Edge> edges, Rank Edge::*peer, Rank rank) {
  std::vector<StagedRanges::Range> wanted;
  for (const auto& edge : edges)
    if (edge.*peer != rank) wanted.push_back({edge.offset, edge.bytes, 0});
  return wanted;
}

}  // namespace

StagedRequests::StagedRequests(const BuffersAndEdges& given, Rank rank, DeviceBackend::Stream users, const Plan& plan)
    : given_(given), self_ends_(given.sides.both_ends()), queue_(given.sides.device(), users) {
  const auto& sides = given.sides;
  if (sides.sends) {
    sends_ = {true, sides.send_ends,
              ranges_to_read(ranges_of_others(given.sends, &SendEdge::destination, rank), sides.send_ends, queue_)};
    sends_.host = pinned_buffer(*sides.sends, sends_.ranges.bytes());
    for (const auto& [offset, bytes, place] : sends_.ranges.ranges())
      sends_.copies.push_back(
          {at(given.send_buffer, offset), sends_.host.get() + place, static_cast<std::size_t>(bytes)});
  }
  if (sides.receives) {
    receives_ = {true, sides.receive_ends, {ranges_of_others(given.receives, &ReceiveEdge::source, rank), 0}};
    receives_.host = pinned_buffer(*sides.receives, receives_.ranges.bytes());
    for (const auto& [offset, bytes, place] : receives_.ranges.ranges())
      receives_.copies.push_back(
          {receives_.host.get() + place, at(given.receive_buffer, offset), static_cast<std::size_t>(bytes)});
  }
  for (const auto& [from, to, bytes] : plan.self)
    self_.push_back(
        {at(given.send_buffer, from.offset), at(given.receive_buffer, to.offset), static_cast<std::size_t>(bytes)});
  host_plan_ =
      staged_plan(plan, sends_.is_staged ? &sends_.ranges : nullptr, receives_.is_staged ? &receives_.ranges : nullptr);
}

void StagedRequests::run_by(std::unique_ptr<BatchRequests> on_host) {
  surround(std::move(on_host));
  host_plan_ = {};
}

void StagedRequests::begin(std::size_t batch) {
  if (batch == 0) {
    queue_.follow_user();
    queue_.copy(sends_.copies, sends_.ends);
    queue_.wait();  // also for the copies of the previous exchange, which used the same receive buffer
  }
  RequestsAround::begin(batch);
  if (batch == 0) queue_.copy(self_, self_ends_);  // while the first messages travel
}

void StagedRequests::end(std::size_t batch) {
  RequestsAround::end(batch);
  if (batch + 1 < batches()) return;
  queue_.copy(receives_.copies, receives_.ends);
  queue_.let_user_follow();
  if (!receives_.is_staged) queue_.wait();  // for copies of the rank to itself, into host memory
}

}  // namespace commpass
