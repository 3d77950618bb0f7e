// What messages on their way share: the rates of the instances of each level. Private to the burst model.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "model/cost/flight.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// A priority queue for items of which most come in their order: those wait in a queue, the others in a heap.
/// @tparam key  the member that orders them
template <class Item, auto key>
class NearlySorted {
 public:
  bool empty() const { return queue_.size() == first_ && heap_.empty(); }
  /// The least one, which there is.
  const Item& next() const { return next_is_queued() ? queue_[first_] : heap_.front(); }

  void add(const Item& item) {
    if (queue_.size() == first_) {
      queue_.clear();
      first_ = 0;
    }
    if (queue_.empty() || std::invoke(key, queue_.back()) <= std::invoke(key, item)) return queue_.push_back(item);
    heap_.push_back(item);
    std::ranges::push_heap(heap_, std::ranges::greater{}, key);
  }

  Item take_next() {
    if (next_is_queued()) return queue_[first_++];
    std::ranges::pop_heap(heap_, std::ranges::greater{}, key);
    const auto item = heap_.back();
    heap_.pop_back();
    return item;
  }

 private:
  bool next_is_queued() const {
    return first_ < queue_.size() &&
           (heap_.empty() || std::invoke(key, queue_[first_]) <= std::invoke(key, heap_.front()));
  }

  std::vector<Item> queue_, heap_;
  std::size_t first_ = 0;  // of the queue
};

/// A resource that moves messages at one rate: those that are there at once get equal parts of it, but none moves
/// faster than alone.
class Server {
 public:
  struct Job {
    Seconds begin;         ///< when it comes
    Seconds seconds;       ///< at the full rate
    double to_fill;        ///< jobs like it that have the full rate together
    std::uint32_t flight;  ///< a number
  };

  void add(const Job& job) { coming_.add(job); }

  /// When the next job comes or is done, if no other is added; infinite if there is none.
  Seconds next() const { return std::min(next_begin(), next_done()); }

  /// @param on_done  called with the number of each flight that is done, and when
  template <class OnDone>
  void run_until(Seconds until, OnDone on_done) {
    for (;;) {
      const auto begin = next_begin(), done = next_done();
      if (std::min(begin, done) > until) return;
      if (done <= begin) {
        now_ = done;
        const auto [served, flight] = ends_.take_next();
        served_ = served;
        --jobs_;
        on_done(flight, done);
      } else {
        admit(coming_.take_next());
      }
    }
  }

 private:
  struct End {
    Seconds served;  ///< of every job that is there, at full rate, since the first came: when this one is done
    std::uint32_t flight;
  };

  static constexpr Seconds never = std::numeric_limits<Seconds>::infinity();

  double sharing() const { return std::max(jobs_, to_fill_); }
  Seconds next_begin() const { return coming_.empty() ? never : coming_.next().begin; }
  Seconds next_done() const { return ends_.empty() ? never : now_ + (ends_.next().served - served_) * sharing(); }

  void admit(const Job& job) {
    if (ends_.empty()) {
      served_ = 0;
      to_fill_ = job.to_fill;
      now_ = job.begin;
    } else {
      served_ += std::max(0.0, job.begin - now_) / sharing();
      now_ = std::max(now_, job.begin);
    }
    ends_.add({served_ + job.seconds, job.flight});
    ++jobs_;
  }

  NearlySorted<Job, &Job::begin> coming_;
  NearlySorted<End, &End::served> ends_;
  Seconds now_ = 0;
  Seconds served_ = 0;  // of every job that is there, at full rate
  double jobs_ = 0, to_fill_ = 1;
};

/// A server of a flight, and its rate.
struct SharedRate {
  std::size_t server;
  double rate_bytes_per_s;
};

/// Which resources with one rate messages share: those of each level for bytes that leave its instances, enter them,
/// stay within them, or pass between instances of the level below.
class SharedRates {
 public:
  SharedRates(const Layout& layout, const Machine& machine);

  std::size_t servers() const { return servers_; }

  /// Calls `with` with each SharedRate of a message that has a limit.
  /// @param level  of its ends
  template <class With>
  void each(Rank from, Rank to, Level level, With with) const {
    for (const auto& [first_server, instance_of, is_of_receiver, rate] : passed_[level]) {
      const int instance = instance_of ? instance_of[is_of_receiver ? to : from] : 0;
      with(SharedRate{first_server + static_cast<std::size_t>(instance), rate});
    }
  }

 private:
  /// The servers of one rate, one for each instance of a level, that messages of one level pass.
  struct Passed {
    std::size_t first_server;
    const int* instance_of;  ///< by rank; null: there is one
    bool is_of_receiver;     ///< is it the instance of the receiver, or that of the sender?
    double rate_bytes_per_s;
  };

  std::array<std::vector<Passed>, most_levels> passed_;  // by the level of a message
  std::size_t servers_ = 0;
};

}  // namespace commpass
