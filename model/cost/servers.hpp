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
  bool is_eager = false;     ///< does its sender go on without waiting for the receiver?
  bool was_awaited = false;  ///< was it the receiver that was late?
  std::uint32_t messages = 1;
  int senders = 1;             ///< ranks that send such a message at the same time, and share the same
  Seconds begin = 0;           ///< B_k of the first
  Seconds unshared_until = 0;  ///< B_k + β_k·s_k of the last
  Seconds shared_until = 0;    ///< C_k, 0 if nothing is shared
  Seconds arrival = 0;         ///< A_k
  // How the way from the sender's (or the late receiver's) start to the arrival divides up, without sharing.
  Seconds latency = 0;
  Seconds transfer = 0;

  /// The part of α that its sender is busy.
  Seconds launching() const { return std::min(protocol->alpha_next_s, protocol->alpha_s); }
  double bytes() const { return static_cast<double>(message->bytes) * messages; }
};

/// What ranks share, each with one rate: sockets, nodes, NICs.
class Servers {
 public:
  Servers(const Layout& layout, const Machine& machine);

  /// Do only messages from one node share anything? Then those of every node can be served alone.
  bool are_of_one_node() const;

  /// Sets `shared_until` of every flight of a batch.
  void serve(std::span<Flight> flights);

 private:
  struct Job {
    int server;
    std::uint32_t flight;
    Seconds begin;
    Seconds seconds;  // at full rate
  };
  struct End {
    Seconds served;
    std::uint32_t flight;
  };
  /// The jobs of a server, by when they end. Most end in the order in which they came, so that most wait in a queue,
  /// and few in a heap.
  class Ends {
   public:
    bool empty() const { return queue_.size() == first_ && heap_.empty(); }
    std::size_t size() const { return queue_.size() - first_ + heap_.size(); }
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
  };

  void add(int server, std::span<const Flight> flights, std::size_t flight, double rate);
  void sort(std::span<Job> jobs);
  void share(std::span<const Job> jobs, std::span<Flight> flights, Seconds& busy_until);

  const Layout& layout_;
  double socket_rate_, node_rate_, out_rate_, in_rate_;
  std::vector<Seconds> busy_until_;  // by server
  std::vector<Job> jobs_, jobs_by_server_, jobs_by_slot_;
  std::vector<std::uint32_t> slots_;
  Grouping by_server_;
  Ends ends_;
};

}  // namespace commpass
