#include "runtime/plan/transposed_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "model/base/error.hpp"

namespace commpass {

namespace {

/// The ranges of a buffer that hold contributions.
class Filled {
 public:
  bool touches(Bytes begin, Bytes bytes) const {
    const auto next = end_of_.lower_bound(begin + bytes);
    return next != end_of_.begin() && std::prev(next)->second > begin;
  }

  /// Fills a range. Before that `use(begin, bytes, is_filled)` is called for its parts, in their order.
  template <class Use>
  void fill(Bytes begin, Bytes bytes, Use use) {
    const Bytes end = begin + bytes;
    auto range = end_of_.upper_bound(begin);
    if (range != end_of_.begin() && std::prev(range)->second > begin) --range;
    for (Bytes at = begin; at < end;) {
      const bool is_filled = range != end_of_.end() && range->first <= at;
      Bytes stop = end;
      if (is_filled) stop = std::min(end, (range++)->second);
      else if (range != end_of_.end()) stop = std::min(end, range->first);
      use(at, stop - at, is_filled);
      at = stop;
    }
    insert(begin, end);
  }

  void clear(Bytes begin, Bytes bytes) {
    const Bytes end = begin + bytes;
    auto range = end_of_.upper_bound(begin);
    if (range != end_of_.begin()) --range;
    while (range != end_of_.end() && range->first < end) {
      const auto [first, last] = *range;
      range = last > begin ? end_of_.erase(range) : std::next(range);
      if (last <= begin) continue;
      if (first < begin) end_of_.emplace(first, begin);
      if (last > end) range = end_of_.emplace(end, last).first;
    }
  }

 private:
  void insert(Bytes begin, Bytes end) {
    auto next = end_of_.upper_bound(begin);
    if (next != end_of_.begin() && std::prev(next)->second >= begin) --next;
    while (next != end_of_.end() && next->first <= end) {
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = end_of_.erase(next);
    }
    end_of_.emplace(begin, end);
  }

  std::map<Bytes, Bytes> end_of_;  // by begin; never adjacent
};

Place with_roles_swapped(Place place) {
  if (place.buffer == Place::Buffer::send) place.buffer = Place::Buffer::receive;
  else if (place.buffer == Place::Buffer::receive) place.buffer = Place::Buffer::send;
  return place;
}

class Transposition {
 public:
  explicit Transposition(const Plan& plan) {
    if (!plan.self.empty()) throw Error("exchange: values of a rank for itself are not added on their way.");
    result_.plan.transit_bytes = plan.transit_bytes;
    for (auto batch = plan.batches.rbegin(); batch != plan.batches.rend(); ++batch) add(*batch);
  }
  TransposedPlan take() { return std::move(result_); }

 private:
  void add(const PlannedBatch& batch) {
    auto& back = result_.plan.batches.emplace_back();
    back.stage = batch.stage;
    auto& [before, after] = result_.sums.emplace_back();
    for (const auto& message : batch.receives) add_send(message, back.sends, before);
    // A place that a message leaves may be filled by those that come.
    Bytes packed = 0;
    for (const auto& message : batch.sends) add_receive(message, back.receives, after, packed);
    result_.plan.packing_bytes = std::max(result_.plan.packing_bytes, packed);
  }

  void add_send(const PlannedMessage& was, std::vector<PlannedMessage>& sends, PlannedSums& sums) {
    const auto place = with_roles_swapped(was.place);
    sends.push_back({was.peer, place, was.bytes});
    for (const auto& [offset, from, bytes] : was.pieces)
      sum_up(with_roles_swapped(from), {place.buffer, place.offset + offset}, bytes, sums);
    if (place.buffer == Place::Buffer::transit) transit_.clear(place.offset, was.bytes);
  }

  void add_receive(const PlannedMessage& was, std::vector<PlannedMessage>& receives, PlannedSums& sums, Bytes& packed) {
    const auto place = with_roles_swapped(was.place);
    if (was.pieces.empty() && !filled(place).touches(place.offset, was.bytes)) {
      filled(place).fill(place.offset, was.bytes, [](Bytes, Bytes, bool) {});
      receives.push_back({was.peer, place, was.bytes});
      return;
    }
    const Place landing{Place::Buffer::packing, packed};
    packed += was.bytes;
    receives.push_back({was.peer, landing, was.bytes});
    if (was.pieces.empty()) sum_up(landing, place, was.bytes, sums);
    for (const auto& [offset, to, bytes] : was.pieces)
      sum_up({landing.buffer, landing.offset + offset}, with_roles_swapped(to), bytes, sums);
  }

  void sum_up(const Place& from, const Place& to, Bytes bytes, PlannedSums& sums) {
    filled(to).fill(to.offset, bytes, [&](Bytes begin, Bytes size, bool is_filled) {
      const PlannedCopy part{{from.buffer, from.offset + (begin - to.offset)}, {to.buffer, begin}, size};
      (is_filled ? sums.additions : sums.copies).push_back(part);
    });
  }

  Filled& filled(const Place& place) { return place.buffer == Place::Buffer::transit ? transit_ : received_; }

  TransposedPlan result_;
  Filled received_, transit_;
};

}  // namespace

TransposedPlan transposed(const Plan& plan) { return Transposition(plan).take(); }

}  // namespace commpass
