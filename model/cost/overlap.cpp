// A simulation of events: a rank enters a batch, a message begins to move, a server has moved a message.
//
// What a message and a rank do is said in flight.hpp, as for batches that are run one after another (burst.cpp). Here
// servers know of all messages: they are there from when they begin to move until they have been moved.
#include "model/cost/overlap.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "model/cost/event_queue.hpp"
#include "model/cost/flight.hpp"
#include "model/cost/message_copies.hpp"
#include "model/cost/servers.hpp"

namespace commpass {

namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

template <class Number>
std::size_t at_index(Number i) {
  return static_cast<std::size_t>(i);
}

/// What a rank does in one batch.
struct Turn {
  std::uint32_t batch = 0;
  std::uint32_t next = none;                 // the rank's next turn
  std::uint32_t sends_begin = 0, sends = 0;  // numbers of flights
  std::uint32_t last_arrival = none;         // of those that have arrived, a list
  std::uint32_t last_waiting = none;         // of those that wait until its receives are posted, a list
  std::uint32_t left = 0;                    // messages that are not there yet, sent or received
  bool is_posted = false;
};

/// A resource that moves messages at one rate, in equal parts; none faster than alone.
struct Server {
  Seconds now = 0;
  Seconds served = 0;  // of every job that is there, at full rate
  double to_fill = 1;
  Ends ends;
  Seconds next_at = never;  // of the event that looks at it

  double sharing() const { return std::max(ends.weight(), to_fill); }
  void advance(Seconds when) {
    if (!ends.empty()) served += (when - now) / sharing();
    now = when;
  }
  Seconds next_done() const { return ends.empty() ? never : now + (ends.next().served - served) * sharing(); }
};

class Overlapping {
 public:
  Overlapping(std::span<const TimedBatch> batches, std::span<const Seconds> clocks, const Layout& layout,
              const Machine& machine)
      : batches_(batches),
        machine_(machine),
        copies_cost_(copies_cost(machine)),
        shared_(layout, machine),
        launching_(layout, machine),
        servers_(at_index(shared_.count() + layout.ranks())),
        clock_(clocks.begin(), clocks.end()),
        launched_(clock_),
        turn_(clock_.size(), none) {
    set_turns();
    for (const auto& batch : batches_) calls_until_.push_back(calls_until_.back() + batch.calls_s);
  }

  std::vector<Moved> run() {
    for (Rank rank = 0; rank < std::ssize(turn_); ++rank) come_to(rank, turn_[at_index(rank)], 0);
    while (!events_.empty()) {
      const auto event = events_.pop();
      switch (event.kind) {
        case Event::Kind::enter: enter(static_cast<Rank>(event.number)); break;
        case Event::Kind::move: move(event.number, event.when); break;
        case Event::Kind::serve: serve(event.number, event.when); break;
      }
    }
    return std::move(moved_);
  }

 private:
  struct Event {
    enum class Kind : std::uint8_t { enter, move, serve };
    Seconds when;
    std::uint32_t number;  // of a rank, a flight or a server
    Kind kind;
  };

  void set_turns() {
    std::vector<std::uint32_t> last(clock_.size(), none);
    const auto turn_of = [&](Rank rank, std::size_t batch) {
      auto& turn = last[at_index(rank)];
      if (turn != none && turns_[turn].batch == batch) return turn;
      const auto added = static_cast<std::uint32_t>(turns_.size());
      (turn == none ? turn_[at_index(rank)] : turns_[turn].next) = added;
      turns_.emplace_back().batch = static_cast<std::uint32_t>(batch);
      return turn = added;
    };
    for (std::size_t b = 0; b < batches_.size(); ++b)
      for (const auto& message : batches_[b].messages.messages) {
        auto& sender = turns_[turn_of(message.from, b)];
        if (sender.sends++ == 0) sender.sends_begin = static_cast<std::uint32_t>(flights_.size());
        ++sender.left;
        receiving_turn_.push_back(turn_of(message.to, b));
        ++turns_[receiving_turn_.back()].left;
        flights_.emplace_back().message = &message;
        folded_.push_back(batches_[b].messages(message));
      }
    moved_.resize(flights_.size());
    next_in_list_.resize(flights_.size(), none);
    servers_left_.resize(flights_.size(), 0);
  }

  /// After its turn in a batch a rank comes to its next.
  void come_to(Rank rank, std::uint32_t turn, std::uint32_t batches_passed) {
    turn_[at_index(rank)] = turn;
    if (turn == none) return;
    auto& clock = clock_[at_index(rank)];
    clock += calls_until_[turns_[turn].batch + 1] - calls_until_[batches_passed];
    events_.push({clock, static_cast<std::uint32_t>(rank), Event::Kind::enter});
  }

  void enter(Rank rank) {
    auto& turn = turns_[turn_[at_index(rank)]];
    auto& clock = clock_[at_index(rank)];
    const auto sends = std::span(flights_).subspan(turn.sends_begin, turn.sends);
    Copies copies(*this, turn);
    for (std::size_t i = 0; i < sends.size(); ++i)
      copies.add(packed(*sends[i].message), folded_[turn.sends_begin + i].messages);
    clock += copies.seconds();
    turn.is_posted = true;
    for (auto f = std::exchange(turn.last_waiting, none); f != none;) {
      const auto next = std::exchange(next_in_list_[f], none);
      set_off(f, clock);
      f = next;
    }
    launching_.begin(clock);
    for (std::size_t i = 0; i < turn.sends; ++i) {
      const auto number = turn.sends_begin + static_cast<std::uint32_t>(i);
      auto& flight = flights_[number];
      launching_.next(*flight.message, folded_[number], flight);
    }
    launched_[at_index(rank)] = launching_.left_at();
    for (std::size_t i = 0; i < turn.sends; ++i) {
      const auto number = turn.sends_begin + static_cast<std::uint32_t>(i);
      auto& receiver = turns_[receiving_turn_[number]];
      if (!flights_[number].awaits_receive || receiver.is_posted)
        set_off(number, clock_[at_index(flights_[number].to)]);
      else next_in_list_[number] = std::exchange(receiver.last_waiting, number);
    }
    if (turn.left == 0) finish(rank, turn);  // all had come before
  }

  /// @param posted  when its receive is posted
  void set_off(std::uint32_t number, Seconds posted) {
    auto& flight = flights_[number];
    flight.await(posted);
    events_.push({flight.moves_from, number, Event::Kind::move});
  }

  void move(std::uint32_t number, Seconds when) {
    const auto& flight = flights_[number];
    auto& left = servers_left_[number];
    const auto add = [&](std::size_t server, Seconds seconds, double to_fill) {
      ++left;
      add_job(server, number, when, seconds, to_fill);
    };
    if (flight.link_seconds > 0) add(link_of(flight.from), flight.link_seconds, 1);
    shared_.each_shared(flight, [&](const SharedRate& shared) {
      add(at_index(shared.server), flight.bytes() / shared.rate_bytes_per_s,
          shared.rate_bytes_per_s * flight.move_s_per_byte);
    });
    if (left == 0) arrive(number);
  }

  std::size_t link_of(Rank rank) const { return at_index(shared_.count() + rank); }

  void add_job(std::size_t number, std::uint32_t flight, Seconds when, Seconds seconds, double to_fill) {
    auto& server = servers_[number];
    if (server.ends.empty()) {
      server.served = 0;
      server.ends.clear();
      server.to_fill = to_fill;
    }
    server.advance(when);
    server.ends.add({server.served + seconds, flight, 1});
    look_at(number);
  }

  /// Makes an event for when it is done with the next, unless there is one before.
  void look_at(std::size_t number) {
    auto& server = servers_[number];
    const auto done = server.next_done();
    if (done >= server.next_at) return;
    server.next_at = done;
    events_.push({done, static_cast<std::uint32_t>(number), Event::Kind::serve});
  }

  void serve(std::size_t number, Seconds when) {
    auto& server = servers_[number];
    if (when != server.next_at) return;  // another event came before
    server.next_at = never;
    // Others have come since, and it takes longer.
    constexpr double rounding = 1e-12;
    while (!server.ends.empty()) {
      const auto done = server.next_done();
      if (done > when * (1 + rounding)) break;
      server.served = server.ends.next().served;
      server.now = when;
      const auto flight = server.ends.next().flight;
      server.ends.take_next();
      leave(number, flight, when);
    }
    look_at(number);
  }

  void leave(std::size_t server, std::uint32_t number, Seconds when) {
    auto& flight = flights_[number];
    constexpr double rounding = 1e-9;
    if (server == link_of(flight.from)) {
      if (when > flight.moves_from + flight.link_seconds * (1 + rounding)) {
        moved_[number].link_until = when;
        flight.leave_link(when);
      }
    } else {
      moved_[number].shared_until = flight.shared_until = std::max(flight.shared_until, when);
    }
    if (--servers_left_[number] == 0) arrive(number);
  }

  void arrive(std::uint32_t number) {
    auto& flight = flights_[number];
    flight.arrive();
    const auto receiving = receiving_turn_[number];
    next_in_list_[number] = std::exchange(turns_[receiving].last_arrival, number);
    note(flight.to, receiving);
    note(flight.from, turn_[at_index(flight.from)]);
  }

  /// One message less is awaited; of the last on, the rank knows when it is done.
  void note(Rank rank, std::uint32_t number) {
    auto& turn = turns_[number];
    if (--turn.left == 0 && turn.is_posted) finish(rank, turn);
  }

  void finish(Rank rank, Turn& turn) {
    auto& clock = clock_[at_index(rank)];
    const auto launched = launched_[at_index(rank)];
    Seconds end = clock;
    for (const auto& flight : std::span(flights_).subspan(turn.sends_begin, turn.sends))
      end = std::max(end, out_at(flight, launched));
    arrivals_.clear();
    Copies copies(*this, turn);
    for (auto f = turn.last_arrival; f != none; f = next_in_list_[f]) {
      arrivals_.push_back(arrival_of(flights_[f]));
      copies.add(unpacked(*flights_[f].message), folded_[f].messages);
    }
    if (!arrivals_.empty())
      end = std::max(
          end, take_in(arrivals_, clock, turn.sends > 0 ? launched : clock, machine_, [](const Arrival&, Seconds) {
               }).finish);
    clock = end + copies.seconds();
    come_to(rank, turn.next, turn.batch + 1);
  }

  /// What a rank copies at one end of its turn in a batch.
  class Copies {
   public:
    Copies(const Overlapping& all, const Turn& turn)
        : all_(all), may_use_datatypes_(all.batches_[turn.batch].may_use_datatypes) {}
    void add(const CopiedPieces& copied, std::uint32_t messages) {
      if (!all_.copies_cost_ || copied.pieces == 0) return;
      if (seconds_ == 0) seconds_ = all_.machine_.copy_call_s;
      seconds_ += messages * copying_seconds(all_.machine_, copied, may_use_datatypes_);
    }
    Seconds seconds() const { return seconds_; }

   private:
    const Overlapping& all_;
    bool may_use_datatypes_;
    Seconds seconds_ = 0;
  };

  std::span<const TimedBatch> batches_;
  std::vector<Seconds> calls_until_{0};  // before each batch and those before it, by batch
  const Machine& machine_;
  bool copies_cost_;
  Servers shared_;
  Launching launching_;
  std::vector<Server> servers_;  // those that ranks share, then the links of ranks
  std::vector<Turn> turns_;
  std::vector<Flight> flights_;                // of all batches
  std::vector<Folded> folded_;                 // by flight, as all below
  std::vector<std::uint32_t> receiving_turn_;  // that of the receiver
  std::vector<std::uint32_t> next_in_list_;
  std::vector<std::uint8_t> servers_left_;
  std::vector<Moved> moved_;
  std::vector<Seconds> clock_;     // when a rank posted the receives of its turn, or has ended it
  std::vector<Seconds> launched_;  // when its sends of the turn have left it
  std::vector<std::uint32_t> turn_;
  std::vector<Arrival> arrivals_;
  EventQueue<Event> events_;
};

}  // namespace

std::vector<Moved> move_overlapping(std::span<const TimedBatch> batches, std::span<const Seconds> clocks,
                                    const Layout& layout, const Machine& machine) {
  return Overlapping(batches, clocks, layout, machine).run();
}

}  // namespace commpass
