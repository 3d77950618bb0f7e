#include "runtime/indexed/staged_values.hpp"

#include <utility>

namespace commpass {

namespace {

using Position = std::int64_t ValueRun::*;

/// The values that some runs touch.
std::vector<StagedRanges::Range> touched(std::initializer_list<const ValueRuns*> lists, Position position,
                                         Bytes value_bytes) {
  std::vector<StagedRanges::Range> ranges;
  for (const auto* runs : lists)
    for (const auto& run : *runs) ranges.push_back({run.*position * value_bytes, run.count * value_bytes, 0});
  return ranges;
}

void move_to(ValueRuns& runs, Position position, Bytes value_bytes, const StagedRanges& ranges) {
  for (auto& run : runs) run.*position = ranges.place_of(run.*position * value_bytes) / value_bytes;
}

}  // namespace

StagedArray::StagedArray(const Device& device, DeviceBackend::Stream users, std::vector<StagedRanges::Range> values,
                         bool may_read_more)
    : queue_(device, users) {
  // An array is one allocation.
  ranges_ =
      may_read_more ? ranges_to_read(std::move(values), Ends::reached, queue_) : StagedRanges(std::move(values), 0);
  host_ = pinned_buffer(device, ranges_.bytes());
  copies_.reserve(ranges_.ranges().size());
}

void StagedArray::copy_out(const void* array) {
  copies_.clear();
  for (const auto& [offset, bytes, place] : ranges_.ranges())
    copies_.push_back(
        {static_cast<const std::byte*>(array) + offset, host_.get() + place, static_cast<std::size_t>(bytes)});
  queue_.follow_user();
  queue_.copy(copies_, Ends::reached);
  queue_.wait();
}

void StagedArray::copy_in(void* array) {
  copies_.clear();
  for (const auto& [offset, bytes, place] : ranges_.ranges())
    copies_.push_back({host_.get() + place, static_cast<std::byte*>(array) + offset, static_cast<std::size_t>(bytes)});
  queue_.follow_user();
  queue_.copy(copies_, Ends::reached);
  queue_.let_user_follow();
  queue_.wait();  // the next exchange may put values there at once
}

StagedValues::StagedValues(const ValueWays& ways, Bytes value_bytes, const Place& place, bool adds)
    : place_(place), ways_(ways), adds_(adds) {
  if (place.from) {
    const auto& ranges =
        from_
            .emplace(*place.from, place.users,
                     touched({&ways.gather, &ways.gather_more, &ways.own}, &ValueRun::from, value_bytes), true)
            .ranges();
    for (auto* runs : {&ways_.gather, &ways_.gather_more, &ways_.own})
      move_to(*runs, &ValueRun::from, value_bytes, ranges);
  }
  if (place.to) {
    // Of this array nothing else may be written.
    const auto& ranges =
        to_.emplace(*place.to, place.users, touched({&ways.own, &ways.deliver}, &ValueRun::to, value_bytes), false)
            .ranges();
    for (auto* runs : {&ways_.own, &ways_.deliver}) move_to(*runs, &ValueRun::to, value_bytes, ranges);
  }
}

void StagedValues::take(const void* from, void* to) {
  users_from_ = from;
  users_to_ = to;
  if (from_) from_->copy_out(from);
  if (to_ && adds_) to_->copy_out(to);
}

void StagedValues::give_back() {
  if (to_) to_->copy_in(users_to_);
}

}  // namespace commpass
