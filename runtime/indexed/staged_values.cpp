#include "runtime/indexed/staged_values.hpp"

#include <vector>

namespace commpass {

namespace {

using Position = std::int64_t ValueRun::*;

/// The values that some runs touch.
std::vector<StagedRanges::Range> touched(std::initializer_list<ValueRuns*> lists, Position position,
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

StagedValues::StagedValues(const ValueWays& ways, Bytes value_bytes, const Place& place, bool adds)
    : place_(place), ways_(ways), adds_(adds) {
  // An array is one allocation.
  if (place.from) {
    from_ = std::make_unique<StagedBuffer>(*place.from, place.users);
    const auto lists = {&ways_.gather, &ways_.gather_more, &ways_.own, &ways_.own_more};
    from_->assign(ranges_to_read(touched(lists, &ValueRun::from, value_bytes), Ends::reached, from_->queue()));
    for (auto* runs : lists) move_to(*runs, &ValueRun::from, value_bytes, from_->ranges());
  }
  if (place.to) {
    // Of this array nothing else may be written.
    to_ = std::make_unique<StagedBuffer>(*place.to, place.users);
    const auto lists = {&ways_.own, &ways_.own_more, &ways_.deliver, &ways_.deliver_more};
    to_->assign({touched(lists, &ValueRun::to, value_bytes), 0});
    for (auto* runs : lists) move_to(*runs, &ValueRun::to, value_bytes, to_->ranges());
  }
}

void StagedValues::take(const void* from, void* to) {
  users_from_ = from;
  users_to_ = to;
  if (from_) from_->read(from, Ends::reached);
  if (to_ && adds_) to_->read(to, Ends::reached);
}

void StagedValues::give_back() {
  if (!to_) return;
  to_->write(users_to_, Ends::reached);
  to_->queue().wait();  // the next exchange may put values there at once
}

}  // namespace commpass
