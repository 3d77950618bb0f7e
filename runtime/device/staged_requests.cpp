#include "runtime/device/staged_requests.hpp"

namespace commpass {

namespace {

const std::byte* at(const void* buffer, Bytes offset) { return static_cast<const std::byte*>(buffer) + offset; }
std::byte* at(void* buffer, Bytes offset) { return static_cast<std::byte*>(buffer) + offset; }

/// What a rank sends to others. What lies between may be read, if it is the same allocation.
StagedRanges ranges_to_send(const Device& device, const BuffersAndEdges& given, Rank rank) {
  std::vector<StagedRanges::Range> wanted;
  for (const auto& [destination, offset, bytes] : given.sends)
    if (destination != rank) wanted.push_back({offset, bytes, 0});
  StagedRanges exact(wanted, 0);
  const auto [begin, bytes, place] = exact.extent();
  if (exact.ranges().size() < 2 || !device.backend->is_one_allocation(at(given.send_buffer, begin), bytes))
    return exact;
  return {std::move(wanted), worth_a_copy};
}

/// What comes from others, and nothing else.
StagedRanges ranges_to_receive(const BuffersAndEdges& given, Rank rank) {
  std::vector<StagedRanges::Range> wanted;
  for (const auto& [source, offset, bytes] : given.receives)
    if (source != rank) wanted.push_back({offset, bytes, 0});
  return {std::move(wanted), 0};
}

}  // namespace

StagedRequests::StagedRequests(const DeviceSides& sides, const BuffersAndEdges& given, Rank rank,
                               DeviceBackend::Stream users, const Plan& plan)
    : given_(given), queue_(sides.device(), users) {
  if (sides.sends) {
    sends_ = {true, ranges_to_send(*sides.sends, given, rank)};
    sends_.host = pinned_buffer(*sides.sends, sends_.ranges.bytes());
    for (const auto& [offset, bytes, place] : sends_.ranges.ranges())
      sends_.copies.push_back(
          {at(given.send_buffer, offset), sends_.host.get() + place, static_cast<std::size_t>(bytes)});
  }
  if (sides.receives) {
    receives_ = {true, ranges_to_receive(given, rank)};
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
    queue_.copy(sends_.copies);
    queue_.wait();  // also for the copies of the exchange before, whose receive buffer is used again
  }
  RequestsAround::begin(batch);
  if (batch == 0) queue_.copy(self_);  // while the first messages travel
}

void StagedRequests::end(std::size_t batch) {
  RequestsAround::end(batch);
  if (batch + 1 < batches()) return;
  queue_.copy(receives_.copies);
  queue_.let_user_follow();
  if (!receives_.is_staged) queue_.wait();  // copies to oneself, into host memory
}

}  // namespace commpass
