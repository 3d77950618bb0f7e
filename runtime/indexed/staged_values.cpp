#include "runtime/indexed/staged_values.hpp"

#include <algorithm>
#include <utility>
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

/// Runs whose values get places one after another, from which they go on.
struct ByPlace {
  std::int64_t places = 0;
  ValueRuns to_places(const ValueRuns& runs, ValueRuns& onward) {
    ValueRuns result;
    for (const auto& [from, to, count] : runs) {
      append(result, from, places, count);
      append(onward, places, to, count);
      places += count;
    }
    return result;
  }
};

/// In the order of the runs, for each target.
std::vector<ValueRuns> in_rounds(const ValueRuns& runs) {
  std::vector<ValueRuns> rounds;
  std::vector<std::size_t> next_round;  // of each target
  for (const auto& run : runs) {
    next_round.resize(std::max(next_round.size(), static_cast<std::size_t>(run.to + run.count)));
    for (std::int64_t i = 0; i < run.count; ++i) {
      const auto round = next_round[static_cast<std::size_t>(run.to + i)]++;
      if (round == rounds.size()) rounds.emplace_back();
      append(rounds[round], run.from + i, run.to + i);
    }
  }
  return rounds;
}

}  // namespace

ValuesToAdd::ValuesToAdd(const Device& device, DeviceBackend::Stream users, ValueWays& ways, Bytes value_bytes,
                         NumberType numbers)
    : value_bytes_(value_bytes), numbers_(numbers), queue_(device, users) {
  ByPlace values;
  ValueRuns additions;
  auto own = values.to_places(ways.own, copies_), own_more = values.to_places(ways.own_more, additions),
       deliver = values.to_places(ways.deliver, copies_), deliver_more = values.to_places(ways.deliver_more, additions);
  own.insert(own.end(), own_more.begin(), own_more.end());
  deliver.insert(deliver.end(), deliver_more.begin(), deliver_more.end());
  ways.own = std::move(own);
  ways.deliver = std::move(deliver);
  ways.own_more.clear();
  ways.deliver_more.clear();
  additions_ = in_rounds(additions);
  host_ = pinned_buffer(device, values.places * value_bytes);
}

std::span<const LocalCopy> ValuesToAdd::pieces_of(const ValueRuns& runs, void* array) {
  pieces_.clear();
  for (const auto& [from, to, count] : runs)
    pieces_.push_back({host() + from * value_bytes_, static_cast<std::byte*>(array) + to * value_bytes_,
                       static_cast<std::size_t>(count * value_bytes_)});
  return pieces_;
}

void ValuesToAdd::run(void* array) {
  queue_.follow_user();
  queue_.copy(pieces_of(copies_, array), Ends::reached);
  for (const auto& round : additions_) queue_.add_by_kernel(pieces_of(round, array), numbers_);
  queue_.let_user_follow();
  queue_.wait();  // the next exchange may put values there at once
}

StagedValues::StagedValues(const ValueWays& ways, Bytes value_bytes, const Place& place) : place_(place), ways_(ways) {
  // An array is one allocation.
  if (place.from) {
    from_ = std::make_unique<StagedBuffer>(*place.from, place.users);
    const auto lists = {&ways_.gather, &ways_.gather_more, &ways_.own, &ways_.own_more};
    from_->assign(ranges_to_read(touched(lists, &ValueRun::from, value_bytes), Ends::reached, from_->queue()));
    for (auto* runs : lists) move_to(*runs, &ValueRun::from, value_bytes, from_->ranges());
  }
  if (!place.to) return;
  const auto numbers = place.adds.value_or(NumberType::others);
  if (numbers != NumberType::others && place.to->backend->why_no_kernel(place.to->number).empty()) {
    adding_ = std::make_unique<ValuesToAdd>(*place.to, place.users, ways_, value_bytes, numbers);
    return;
  }
  // Of this array nothing else may be written.
  to_ = std::make_unique<StagedBuffer>(*place.to, place.users);
  const auto lists = {&ways_.own, &ways_.own_more, &ways_.deliver, &ways_.deliver_more};
  to_->assign({touched(lists, &ValueRun::to, value_bytes), 0});
  for (auto* runs : lists) move_to(*runs, &ValueRun::to, value_bytes, to_->ranges());
}

void StagedValues::take(const void* from, void* to) {
  users_from_ = from;
  users_to_ = to;
  if (from_) from_->read(from, Ends::reached);
  if (to_ && place_.adds) to_->read(to, Ends::reached);
}

void StagedValues::give_back() {
  if (adding_) return adding_->run(users_to_);
  if (!to_) return;
  to_->write(users_to_, Ends::reached);
  to_->queue().wait();  // likewise
}

}  // namespace commpass
