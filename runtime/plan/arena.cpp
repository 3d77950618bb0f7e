#include "runtime/plan/arena.hpp"

#include <algorithm>
#include <iterator>

namespace commpass {

Bytes Arena::allocate(Bytes bytes) {
  auto range = std::ranges::find_if(free_, [&](const auto& entry) { return entry.second >= bytes; });
  if (range == free_.end()) {
    // Grow from the free range at the end, if any.
    const auto last = free_.empty() ? free_.end() : std::prev(free_.end());
    const bool touches_end = last != free_.end() && last->first + last->second == capacity_;
    const Bytes offset = touches_end ? last->first : capacity_;
    capacity_ = offset + bytes;
    if (touches_end) free_.erase(last);
    return offset;
  }
  const auto [offset, available] = *range;
  free_.erase(range);
  if (available > bytes) free_.emplace(offset + bytes, available - bytes);
  return offset;
}

void Arena::release(Bytes offset, Bytes bytes) {
  auto next = free_.lower_bound(offset);
  if (next != free_.end() && offset + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(offset, bytes);
}

}  // namespace commpass
