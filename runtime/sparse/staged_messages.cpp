#include "runtime/sparse/staged_messages.hpp"

#include <algorithm>
#include <array>

#include "runtime/device/staged_ranges.hpp"

namespace commpass {

std::byte* StagedMessages::room_for(Bytes bytes) {
  queue_.wait();  // which may still copy from there
  if (bytes > room_) {
    pinned_ = pinned_buffer(queue_.device(), bytes);
    room_ = bytes;
  }
  return pinned_.get();
}

const std::byte* StagedMessages::copy_out(const std::byte* buffer, std::vector<SendEdge>& edges) {
  std::vector<StagedRanges::Range> wanted;
  for (const auto& edge : edges) wanted.push_back({edge.offset, edge.bytes, 0});
  const StagedRanges ranges(std::move(wanted), 0);
  std::byte* const here = room_for(ranges.bytes());
  copies_.clear();
  for (const auto& [offset, bytes, place] : ranges.ranges())
    copies_.push_back({buffer + offset, here + place, static_cast<std::size_t>(bytes)});
  const auto [offset, bytes, place] = ranges.extent();
  const bool is_one = queue_.device().backend->is_one_allocation(buffer + offset, bytes);
  queue_.follow_user();
  queue_.copy(copies_, is_one ? Ends::reached : Ends::anywhere);
  queue_.wait();
  for (auto& edge : edges) edge.offset = edge.bytes > 0 ? ranges.place_of(edge.offset) : 0;
  return here;
}

void StagedMessages::copy_in(std::byte* to, Bytes bytes) {
  queue_.follow_user();
  const std::array copy{LocalCopy{pinned_.get(), to, static_cast<std::size_t>(bytes)}};
  queue_.copy(copy);
  queue_.let_user_follow();
}

std::shared_ptr<StagedMessages> StagedMessagesPool::take(const Device& device, DeviceBackend::Stream users) {
  const auto is_free = [&](const auto& each) { return each.use_count() == 1; };
  const auto found =
      std::ranges::find_if(all_, [&](const auto& each) { return is_free(each) && each->serves(device, users); });
  if (found != all_.end()) return *found;
  std::erase_if(all_, is_free);  // of a stream or device before
  return all_.emplace_back(std::make_shared<StagedMessages>(device, users));
}

}  // namespace commpass
