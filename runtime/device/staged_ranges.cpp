#include "runtime/device/staged_ranges.hpp"

#include <algorithm>
#include <utility>

namespace commpass {

StagedRanges::StagedRanges(std::vector<Range> ranges, Bytes gap_max) {
  std::erase_if(ranges, [](const Range& range) { return range.bytes <= 0; });
  std::ranges::sort(ranges, {}, &Range::offset);
  for (const auto& range : ranges) {
    const auto end = range.offset + range.bytes;
    if (!ranges_.empty() && range.offset <= ranges_.back().offset + ranges_.back().bytes + gap_max) {
      auto& before = ranges_.back();
      before.bytes = std::max(before.bytes, end - before.offset);
    } else {
      ranges_.push_back({range.offset, range.bytes, bytes()});
    }
  }
}

StagedRanges::Range StagedRanges::extent() const {
  if (ranges_.empty()) return {};
  const auto begin = ranges_.front().offset;
  return {begin, ranges_.back().offset + ranges_.back().bytes - begin, 0};
}

Bytes StagedRanges::place_of(Bytes offset) const {
  const auto next = std::ranges::upper_bound(ranges_, offset, {}, &Range::offset);
  const auto& range = *std::prev(next);
  return range.place + offset - range.offset;
}

StagedRanges ranges_to_read(std::vector<StagedRanges::Range> wanted, Ends ends, DeviceQueue& queue) {
  StagedRanges exact(wanted, 0);
  if (ends == Ends::anywhere || queue.packs(exact.ranges().size(), exact.bytes())) return exact;
  return {std::move(wanted), worth_a_copy};
}

Plan staged_plan(Plan plan, const StagedRanges* sends, const StagedRanges* receives) {
  const auto move = [&](Place& place) {
    if (sends && place.buffer == Place::Buffer::send) place.offset = sends->place_of(place.offset);
    if (receives && place.buffer == Place::Buffer::receive) place.offset = receives->place_of(place.offset);
  };
  plan.self.clear();
  for (auto& batch : plan.batches)
    for (auto* messages : {&batch.receives, &batch.sends})
      for (auto& message : *messages) {
        move(message.place);
        for (auto& piece : message.pieces) move(piece.place);
      }
  return plan;
}

}  // namespace commpass
