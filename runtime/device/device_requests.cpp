#include "runtime/device/device_requests.hpp"

#include <algorithm>
#include <iterator>

namespace commpass {

namespace {

const std::byte* at(const void* buffer, Bytes offset) { return static_cast<const std::byte*>(buffer) + offset; }
std::byte* at(void* buffer, Bytes offset) { return static_cast<std::byte*>(buffer) + offset; }

/// The ranges of edges to or from other ranks.
template <class Edge>
std::vector<StagedRanges::Range> ranges_of_others(std::span<const Edge> edges, Rank Edge::*peer, Rank rank) {
  std::vector<Edge> others;
  std::ranges::copy_if(edges, std::back_inserter(others), [=](const Edge& edge) { return edge.*peer != rank; });
  return ranges_of(others);
}

}  // namespace

StagedRequests::StagedRequests(const BuffersAndEdges& given, Rank rank, DeviceBackend::Stream users, const Plan& plan)
    : given_(given), queue_(given.sides.device(), users) {
  const auto& sides = given.sides;
  if (sides.sends)
    sends_.assign(ranges_to_read(ranges_of_others(given.sends, &SendEdge::destination, rank), sides.send_ends, queue_),
                  queue_);
  if (sides.receives) receives_.assign({ranges_of_others(given.receives, &ReceiveEdge::source, rank), 0}, queue_);
  for (const auto& [from, to, bytes] : plan.self)
    self_.push_back(
        {at(given.send_buffer, from.offset), at(given.receive_buffer, to.offset), static_cast<std::size_t>(bytes)});
}

void StagedRequests::before() {
  queue_.follow_user();
  if (given_.sides.sends) sends_.copy_out(given_.send_buffer, given_.sides.send_ends);
  queue_.wait();  // also for the copies of the previous exchange, which used the same receive buffer
}

void StagedRequests::after() {
  if (given_.sides.receives) receives_.copy_in(given_.receive_buffer, given_.sides.receive_ends);
  queue_.let_user_follow();
  if (!given_.sides.receives) queue_.wait();  // for copies of the rank to itself, into host memory
}

}  // namespace commpass
