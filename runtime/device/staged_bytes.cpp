#include "runtime/device/staged_bytes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace commpass {

void StagedRanges::settle(Bytes gap_max) {
  std::erase_if(ranges_, [](const Range& range) { return range.bytes <= 0; });
  std::ranges::sort(ranges_, {}, &Range::offset);
  auto last = ranges_.begin();
  for (auto range = last; range != ranges_.end(); ++range) {
    const auto end = last->offset + last->bytes;
    if (range == last) last->place = 0;
    else if (range->offset <= end + gap_max) last->bytes = std::max(end, range->offset + range->bytes) - last->offset;
    else *std::next(last) = {range->offset, range->bytes, last->place + last->bytes}, ++last;
  }
  if (!ranges_.empty()) ranges_.erase(std::next(last), ranges_.end());
}

void StagedRanges::mirror() {
  settle(0);
  for (auto& range : ranges_) range.place = range.offset - ranges_.front().offset;
}

Ends StagedRanges::ends(const Device& device, const void* users) const {
  const auto [offset, bytes, place] = extent();
  const bool is_one = device.backend->is_one_allocation(static_cast<const std::byte*>(users) + offset, bytes);
  return is_one ? Ends::reached : Ends::anywhere;
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

void StagedBytes::assign(const StagedRanges& ranges, DeviceQueue& queue) {
  queue_ = &queue;
  queue_->wait();  // which may still copy from there
  ranges_ = ranges;
  copies_.reserve(ranges_.ranges().size());
  host_.reserve(ranges_.bytes(), [&](Bytes wanted) { return pinned_buffer(queue.device(), wanted); });
}

void StagedBytes::copy_out(const void* users, Ends ends) {
  copies_.clear();
  for (const auto& [offset, bytes, place] : ranges_.ranges())
    copies_.push_back({static_cast<const std::byte*>(users) + offset, host() + place, static_cast<std::size_t>(bytes)});
  queue_->copy(copies_, ends);
}

void StagedBytes::copy_in(void* users, Ends ends) {
  copies_.clear();
  for (const auto& [offset, bytes, place] : ranges_.ranges())
    copies_.push_back({host() + place, static_cast<std::byte*>(users) + offset, static_cast<std::size_t>(bytes)});
  queue_->copy(copies_, ends);
}

void StagedBytes::read(const void* users, Ends ends) {
  queue_->follow_user();
  copy_out(users, ends);
  queue_->wait();
}

void StagedBytes::write(void* users, Ends ends) {
  queue_->follow_user();
  copy_in(users, ends);
  queue_->let_user_follow();
}

}  // namespace commpass
