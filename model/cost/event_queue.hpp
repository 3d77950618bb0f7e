// Events in order of time, for a simulation that holds many of them at once. Private to the burst model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// A priority queue in two levels, as a ladder queue (Tang, Goh, Thng 2005): events near in time lie in a small heap,
/// which stays in the cache, later ones unsorted in buckets of equal length of time. Events at one time leave in an
/// order that depends only on earlier calls.
/// @tparam Event  has a member `when` in seconds
template <class Event>
class EventQueue {
 public:
  bool empty() const { return heap_.empty() && in_buckets_ == 0 && later_.empty(); }

  void push(const Event& event) {
    if (event.when < heap_end_) {
      heap_.push_back(event);
      std::ranges::push_heap(heap_, std::ranges::greater{}, &Event::when);
    } else if (event.when < buckets_end_) {
      add_to_bucket(event);
    } else {
      later_.push_back(event);
    }
  }

  /// When the earliest one happens. The queue is not empty.
  Seconds next() {
    while (heap_.empty()) refill();
    return heap_.front().when;
  }

  /// Takes the earliest one. The queue is not empty.
  Event pop() {
    while (heap_.empty()) refill();
    std::ranges::pop_heap(heap_, std::ranges::greater{}, &Event::when);
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

 private:
  static constexpr std::size_t bucket_count = 1024;  // with 10⁶ events a bucket's heap fits into a cache of 32 KiB

  void add_to_bucket(const Event& event) {
    const auto bucket = static_cast<std::size_t>((event.when - buckets_begin_) * buckets_per_s_);
    buckets_[std::clamp(bucket, next_bucket_, bucket_count - 1)].push_back(event);
    ++in_buckets_;
  }

  void refill() {
    if (in_buckets_ == 0) return spread_later();
    while (buckets_[next_bucket_].empty()) ++next_bucket_;
    heap_.swap(buckets_[next_bucket_]);
    in_buckets_ -= heap_.size();
    std::ranges::make_heap(heap_, std::ranges::greater{}, &Event::when);
    ++next_bucket_;
    heap_end_ = next_bucket_ == bucket_count ? buckets_end_
                                             : buckets_begin_ + static_cast<double>(next_bucket_) / buckets_per_s_;
  }

  /// All buckets are empty: they get the events behind them, or, where these are few or all at one time, the heap does.
  void spread_later() {
    constexpr std::size_t heap_events_max = 1024;
    const auto [first, last] = std::ranges::minmax(later_, {}, &Event::when);
    const double buckets_per_s = bucket_count / (last.when - first.when);
    if (later_.size() <= heap_events_max || !(buckets_per_s < std::numeric_limits<double>::infinity())) {
      heap_.swap(later_);
      std::ranges::make_heap(heap_, std::ranges::greater{}, &Event::when);
      heap_end_ = buckets_end_ = last.when;
      return;
    }
    next_bucket_ = 0;
    buckets_per_s_ = buckets_per_s;
    buckets_begin_ = heap_end_ = first.when;
    buckets_end_ = last.when;
    for (const auto& event : std::exchange(later_, {})) push(event);
  }

  std::vector<Event> heap_;  // those before heap_end_
  std::array<std::vector<Event>, bucket_count> buckets_;
  std::vector<Event> later_;  // those from buckets_end_ on
  std::size_t next_bucket_ = 0, in_buckets_ = 0;
  double buckets_per_s_ = 0;
  Seconds buckets_begin_ = 0, heap_end_ = 0, buckets_end_ = 0;
};

}  // namespace commpass
