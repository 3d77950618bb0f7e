// What messages on their way share: the rates of sockets, nodes and NICs. Private to the burst model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
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
    double weight;  ///< it counts as so many jobs
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

/// What has one rate for several messages: the links of ranks; sockets, nodes, NICs, the links of groups and the core
/// of the network.
class Servers {
 public:
  Servers(const Layout& layout, const Machine& machine);

  /// Do only messages from one node share anything? Then those of every node can be served alone.
  bool are_of_one_node() const;

  /// Sets `shared_until` of every flight of a batch, whose flights are sorted by sender. What is left of earlier
  /// batches has its share. Where a rank's own messages hold each other up, `unshared_until` is later, and `transfer`
  /// longer.
  void serve(std::span<Flight> flights);

  /// How long a server was still busy with a batch, at most, when the first message of the next came. What is left of
  /// the one is then said to be done when nobody else had come.
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
    double to_fill = 1;  // so many jobs like it have the full rate; fewer move no faster than each does alone
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

  const Layout& layout_;
  double socket_rate_, node_rate_, bus_rate_, out_rate_, in_rate_, core_rate_, group_rate_;
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
  const auto limited = [&](int server, double rate) {
    if (rate < std::numeric_limits<double>::infinity()) with(SharedRate{server, rate});
  };
  const auto from = flight.message->from, to = flight.message->to;
  const int sockets = layout_.sockets(), nodes = layout_.nodes(), node = layout_.node(from);
  switch (flight.locality) {
    case Locality::socket:
      limited(layout_.socket(from), socket_rate_);
      limited(sockets + nodes + node, bus_rate_);
      break;
    case Locality::node:
      limited(sockets + node, node_rate_);
      limited(sockets + nodes + node, bus_rate_);
      break;
    case Locality::network:
      limited(sockets + 2 * nodes + node, out_rate_);
      limited(sockets + 3 * nodes + layout_.node(to), in_rate_);
      // What stays within a group does not reach the core.
      if (flight.group_way != GroupWay::within) limited(sockets + 4 * nodes, core_rate_);
      if (flight.group_way != GroupWay::between) break;
      limited(sockets + 4 * nodes + 1 + layout_.group(node), group_rate_);
      limited(sockets + 4 * nodes + 1 + layout_.groups() + layout_.group(layout_.node(to)), group_rate_);
  }
}

}  // namespace commpass
