// What messages on their way share: the rates of the instances of each level. Private to the burst model.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/cost/flight.hpp"
#include "model/grouping.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// What a server does, by how much of it is done. Most end in the order in which they came, so that most wait in a
/// queue, and few in a heap.
class Ends {
 public:
  struct End {
    Seconds served;  ///< of every job that is there, at full rate, since the first came: when this one is done
    std::uint32_t flight;
    double weight;  ///< the number of jobs as which it counts
  };
  bool empty() const { return queue_.size() == first_ && heap_.empty(); }
  double weight() const { return weight_; }  ///< of all
  const End& next() const { return next_is_queued() ? queue_[first_] : heap_.front(); }
  void add(const End& end);
  void take_next();
  void clear();

 private:
  bool next_is_queued() const {
    return first_ < queue_.size() && (heap_.empty() || queue_[first_].served <= heap_.front().served);
  }

  std::vector<End> queue_, heap_;
  std::size_t first_ = 0;  // of the queue
  double weight_ = 0;
};

/// A server of a flight, and its rate.
struct SharedRate {
  int server;
  double rate_bytes_per_s;
};

/// Resources with one rate for several messages: the links of ranks, and those of each level for bytes that leave its
/// instances, enter them, stay within them, or pass between instances of the level below.
class Servers {
 public:
  Servers(const Layout& layout, const Machine& machine);

  /// Do only messages from one node share anything? Then those of every node can be served alone.
  bool are_of_one_node() const { return are_of_one_node_; }

  /// Sets `shared_until` of every flight of a batch, whose flights are sorted by sender. The rest of earlier
  /// batches has its share. Where a rank's own messages hold each other up, `unshared_until` is later, and `transfer`
  /// longer.
  void serve(std::span<Flight> flights);

  /// How long a server was still busy with a batch, at most, when the first message of the next came. The
  /// remaining messages of the one then keep the ends that they had without the other.
  Seconds overlap() const { return overlap_; }

  int count() const { return static_cast<int>(backlogs_.size()); }
  /// Calls `with` with each SharedRate of a flight that has a limit.
  template <class With>
  void each_shared(const Flight& flight, With with) const;

 private:
  struct Job {
    int server;
    std::uint32_t flight;
    Seconds begin;
    Seconds seconds;     // at full rate
    double to_fill = 1;  // jobs like it that have the full rate together; fewer move no faster than each alone
  };
  /// What a server has left of earlier batches.
  struct Backlog {
    struct Done {
      Seconds when;
      double jobs;
    };
    Seconds busy_until = 0;   // idle from then on
    std::vector<Done> dones;  // of the last batch, in order

    double jobs_after(Seconds when) const;
  };

  void serve_links(std::span<Flight> flights);
  void sort(std::span<Job> jobs);
  /// @param on_done  called with the number of a flight and when it is done
  template <class OnDone>
  void share(std::span<const Job> jobs, Backlog& backlog, OnDone on_done);

  /// The servers of one rate, one for each instance of a level, that messages of one level pass.
  struct Passed {
    int first_server;
    const int* instance_of;  ///< by rank; null: there is one
    bool is_of_receiver;     ///< is it the instance of the receiver, or that of the sender?
    double rate_bytes_per_s;
  };

  std::array<std::vector<Passed>, most_levels> passed_;  // by the level of a message
  bool are_of_one_node_ = true;
  std::vector<Backlog> backlogs_;         // by server
  std::vector<Seconds> link_busy_until_;  // by rank
  Backlog link_backlog_;
  std::vector<Job> jobs_, jobs_by_server_, jobs_by_slot_;
  std::vector<std::uint32_t> slots_;
  Grouping by_server_;
  Ends ends_;
  Seconds overlap_ = 0;
};

template <class With>
void Servers::each_shared(const Flight& flight, With with) const {
  for (const auto& [first_server, instance_of, is_of_receiver, rate] : passed_[flight.level])
    with(SharedRate{first_server + (instance_of ? instance_of[is_of_receiver ? flight.to : flight.from] : 0), rate});
}

}  // namespace commpass
