// Messages on their way, and what they share: the rates of sockets, nodes and NICs. Private to the burst model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/grouping.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

/// A message on its way, or several of one sender, one right after another; the letters are those of burst.cpp.
struct Flight {
  const Message* message = nullptr;
  const Protocol* protocol = nullptr;
  Locality locality = Locality::network;
  GroupWay group_way = GroupWay::unknown;  ///< where its ends' nodes are
  bool is_eager = false;                   ///< does its sender go on without waiting for the receiver?
  bool was_awaited = false;                ///< was it the receiver that was late?
  std::uint32_t messages = 1;
  int senders = 1;             ///< ranks that send such a message at the same time, and share the same
  Seconds begin = 0;           ///< B_k of the first
  Seconds moves_from = 0;      ///< M_k of the first
  double move_s_per_byte = 0;  ///< β, of the fastest protocol of the locality
  Seconds link_seconds = 0;    ///< that its bytes take on the link of its sender, alone; 0 if that is not known
  Seconds unshared_until = 0;  ///< when the last would have moved, if ranks shared nothing
  Seconds shared_until = 0;    ///< C_k, 0 if nothing is shared
  Seconds arrival = 0;         ///< A_k
  // How the way from the sender's (or the late receiver's) start to the arrival divides up, without sharing.
  Seconds latency = 0;
  Seconds transfer = 0;

  /// The part of α that its sender is busy.
  Seconds launching() const { return std::min(protocol->alpha_next_s, protocol->alpha_s); }
  /// The part of α that its receiver is busy.
  Seconds taking() const { return std::min(protocol->alpha_receive_s.value_or(0), protocol->alpha_s - launching()); }
  double bytes() const { return static_cast<double>(message->bytes) * messages; }
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

 private:
  struct Job {
    int server;
    std::uint32_t flight;
    Seconds begin;
    Seconds seconds;     // at full rate
    double to_fill = 1;  // so many jobs like it have the full rate; fewer move no faster than each does alone
  };
  struct End {
    Seconds served;
    std::uint32_t flight;
    double weight;  // it counts as so many jobs
  };
  /// The jobs of a server, by when they end. Most end in the order in which they came, so that most wait in a queue,
  /// and few in a heap.
  class Ends {
   public:
    bool empty() const { return queue_.size() == first_ && heap_.empty(); }
    double weight() const { return weight_; }
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
    double weight_ = 0;      // of all
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
  void add(int server, std::span<const Flight> flights, std::size_t flight, double rate);
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
};

}  // namespace commpass
