#include "model/cost/simulation.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "model/cost/event_queue.hpp"
#include "model/cost/message_copies.hpp"
#include "model/cost/servers.hpp"

namespace commpass {

namespace {

constexpr Seconds never = std::numeric_limits<Seconds>::infinity();
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

void add(Parts& parts, CostPart which, Seconds seconds) { parts[static_cast<std::size_t>(which)] += seconds; }

}  // namespace

/// Some batches, by events: servers are done with messages. A rank enters its next turn as soon as it is known when it
/// does, since the messages that it will send are no sooner there than they move.
class Simulation::Run {
 public:
  /// @param ranks    those that run
  /// @param for_all  does the one that runs stand for all?
  Run(Simulation& of, std::span<const TimedBatch> batches, std::size_t ranks, bool for_all)
      : of_(of),
        batches_(batches),
        for_all_(for_all),
        shared_(of.layout_, of.machine_),
        first_turn_(ranks, none),
        launched_(ranks, Launching(0)) {
    for (std::size_t b = 0; b < batches.size(); ++b) {
      wait_until_.push_back(wait_until_.back() + batches[b].wait_s);
      calls_until_.push_back(calls_until_.back() + batches[b].calls_s);
      if (b + 1 == batches.size() || batches[b].stage != batches[b + 1].stage) stage_ends_.push_back(b + 1);
    }
    add_flights();
    add_arrivals();
    servers_.resize(shared_.servers() + (has_links_ ? ranks : 0));
    wakes_at_.resize(servers_.size(), never);
    if (of_.trace_) traced_.resize(turns_.size());
  }

  void run() {
    for (Rank rank = 0; rank < std::ssize(first_turn_); ++rank) go_on(rank, 0, first_turn_[at(rank)]);
    for (finish_all(); !wakes_.empty(); finish_all()) {
      // Nothing that happens from the first of these on adds a job before `known_until_`, so they may be taken in any
      // order: in that in which memory has them.
      due_.clear();
      due_.push_back(wakes_.pop());
      known_until_ = due_.front().when + lookahead_;
      while (!wakes_.empty() && wakes_.next() < known_until_) due_.push_back(wakes_.pop());
      std::ranges::sort(due_, {}, &Wake::server);
      for (const auto& [when, server] : due_) wake(server, when);
      leave_servers();
    }
  }

 private:
  /// Something happens at a server.
  struct Wake {
    Seconds when;
    std::uint32_t server;
  };

  /// A server is done with a flight.
  struct Left {
    Seconds when;
    std::uint32_t flight;
    bool is_link;
  };

  /// A rank's part in one batch.
  struct Turn {
    const Message* sent = nullptr;  // the first one
    std::uint32_t sends_begin = 0, sends = 0;
    std::uint32_t arrivals_begin = 0, arrivals = 0;
    std::uint32_t last_waiting = none;  // of the flights that wait until its receives are posted, a list
    std::uint32_t batch = 0;
    std::uint32_t next = none;  // turn of the rank
    Rank rank = 0;
    bool is_posted = false;
  };
  struct TracedTurn {
    Seconds began = 0;
    int before = -1;  // number of the rank's finish before it
  };

  /// On whose parts the end of a turn builds, and what it adds.
  struct Way {
    std::uint32_t turn = 0;
    Seconds latency = 0, transfer = 0, sharing = 0;
  };

  void add_flights() {
    Latest latest(first_turn_.size());
    std::size_t count = 0;
    for (const auto& batch : batches_) count += batch.messages.messages.size();
    flights_.reserve(count);
    for (std::uint32_t b = 0; b < batches_.size(); ++b) {
      add_turns(b, latest);
      for (const auto& message : batches_[b].messages.messages) {
        const auto folded = batches_[b].messages(message);
        if (!batches_[b].messages.given.empty()) messages_.push_back(folded.messages);
        if (!of_.channels_[folded.level].channel) host_channel(of_.machine_, folded.level);  // throws
        auto flight = flight_of(message, folded.level, of_.channels_);
        flight.sending_turn = latest.turn[at(message.from)];
        flight.receiving_turn = latest.turn[at(message.to)];
        auto& sender = turns_[flight.sending_turn];
        if (sender.sends++ == 0) {
          sender.sends_begin = static_cast<std::uint32_t>(flights_.size());
          sender.sent = &message;
        }
        left_[flight.sending_turn] += !flight.is_eager;
        ++left_[flight.receiving_turn];
        ++turns_[flight.receiving_turn].arrivals;
        has_links_ = has_links_ || link_seconds(static_cast<double>(message.bytes), folded.level) > 0;
        any_waits_ = any_waits_ || flight.awaits_receive;
        lookahead_ = std::min(lookahead_, lookahead_of(flight));
        flights_.push_back(flight);
      }
    }
    lookahead_ = std::max(lookahead_, 0.0);
    parts_.resize(turns_.size());
    if (any_waits_) next_waiting_.resize(flights_.size(), none);
  }

  /// The latest turn of each rank, while turns are added.
  struct Latest {
    explicit Latest(std::size_t ranks) : turn(ranks, none), batch(ranks, none) {}
    std::vector<std::uint32_t> turn, batch;  // by rank
    std::vector<Rank> members{};             // of the batch whose turns are added
  };

  /// Those of a batch, in the order of ranks, in which memory is read then.
  void add_turns(std::uint32_t batch, Latest& latest) {
    auto& members = latest.members;
    members.clear();
    for (const auto& message : batches_[batch].messages.messages)
      for (const Rank rank : {message.from, message.to})
        if (std::exchange(latest.batch[at(rank)], batch) != batch) members.push_back(rank);
    std::ranges::sort(members);
    for (const Rank rank : members) {
      const auto turn = static_cast<std::uint32_t>(turns_.size());
      const auto before = std::exchange(latest.turn[at(rank)], turn);
      (before == none ? first_turn_[at(rank)] : turns_[before].next) = turn;
      turns_.push_back({.batch = batch, .rank = rank});
    }
    left_.resize(turns_.size(), 1);
  }

  void add_arrivals() {
    std::uint32_t begin = 0;
    for (auto& turn : turns_) {
      turn.arrivals_begin = begin;
      begin += std::exchange(turn.arrivals, 0);
    }
    arrivals_.resize(flights_.size());
    for (std::uint32_t f = 0; f < flights_.size(); ++f) {
      auto& flight = flights_[f];
      auto& receiver = turns_[flight.receiving_turn];
      flight.arrival_number = receiver.arrivals_begin + receiver.arrivals++;
      const auto& message = message_of(f);
      const auto& protocol = *flight.protocol;
      arrivals_[flight.arrival_number] = {.when = 0,
                                          .taking = messages_of(f) * protocol.receive_seconds(message.bytes),
                                          .unpacking = copying(unpacked(message), message, f, receiver),
                                          .flight = f,
                                          .messages = messages_of(f),
                                          .channel_level = of_.layout_.channel_level(flight.level),
                                          .is_after_sends = protocol.takes_after_sends(),
                                          .is_unpacked = message.unpacked_pieces > 0 && is_called_for(message, f)};
    }
  }

  Load load_of(std::uint32_t flight, const Message& message) const {
    return {static_cast<double>(message.bytes), of_.channels_[flights_[flight].level].least_beta, messages_of(flight)};
  }
  std::uint32_t messages_of(std::uint32_t flight) const { return messages_.empty() ? 1 : messages_[flight]; }

  const Message& message_of(std::uint32_t flight) const {
    const auto& turn = turns_[flights_[flight].sending_turn];
    return turn.sent[flight - turn.sends_begin];
  }

  /// The least time from an event that lets a rank enter its turn, or post its receives, until the message moves.
  static Seconds lookahead_of(const Flight& flight) {
    const Seconds earlier = flight.protocol->alpha_receive_s.value_or(0) - flight.taking();  // out before it arrives
    return flight.waking() + (flight.awaits_receive ? 0 : flight.launching()) - earlier;
  }

  Seconds link_seconds(double bytes, Level level) const {
    return bytes / of_.channels_[level].channel->link_rate_bytes_per_s;
  }

  /// Of the pieces of messages at one end, without what a rank's first copy takes more.
  Seconds copying(const CopiedPieces& copied, const Message& message, std::uint32_t flight, const Turn& turn) const {
    if (!of_.copies_cost_ || copied.pieces == 0) return 0;
    return messages_of(flight) * copying_seconds(of_.machine_, copied, batches_[turn.batch].may_use_datatypes,
                                                 *flights_[flight].protocol, message.bytes);
  }
  /// Are its pieces copied apart from it?
  bool is_called_for(const Message& message, std::uint32_t flight) const {
    return !flights_[flight].protocol->copies_pieces || message.is_added;
  }

  void copy(Rank rank, Seconds seconds, bool any_calls, std::size_t batch) {
    spend(rank, (any_calls ? of_.machine_.copy_call_s : 0) + seconds, CostPart::copying, Activity::copy, batch);
  }

  void spend(Rank rank, Seconds seconds, CostPart which, Activity activity, std::size_t batch) {
    of_.spend(rank, seconds, which, activity, batches_[batch].stage);
  }

  /// A rank passes batches without messages of its own, and comes to its next turn.
  /// @param batch  the next one
  void go_on(Rank rank, std::size_t batch, std::uint32_t turn) {
    const auto until = turn == none ? batches_.size() : turns_[turn].batch;
    while (batch < until) {
      const auto passed = std::min<std::size_t>(*std::ranges::upper_bound(stage_ends_, batch), until);
      begin_batches(rank, batch, passed);
      end_batch(rank, passed - 1);
      batch = passed;
    }
    if (turn == none) return;
    begin_batches(rank, batch, batch + 1);
    enter(turn);
  }

  void begin_batches(Rank rank, std::size_t begin, std::size_t end) {
    spend(rank, wait_until_[end] - wait_until_[begin], CostPart::latency, Activity::wait, begin);
    spend(rank, calls_until_[end] - calls_until_[begin], CostPart::library, Activity::library, begin);
  }

  /// With the last one of a stage a rank leaves it.
  void end_batch(Rank rank, std::size_t batch) {
    if (!batches_[batch].ends_stage) return;
    auto& end = of_.ends_[at(batches_[batch].stage)];
    auto& parts = of_.parts_[at(rank)];
    const auto clock = of_.clock_[at(rank)];
    if (end.rank < 0 || clock > end.when || (clock == end.when && rank < end.rank)) end = {rank, clock, parts};
    parts = {};
  }

  void enter(std::uint32_t number) {
    auto& turn = turns_[number];
    const auto rank = turn.rank;
    auto& clock = of_.clock_[at(rank)];
    if (of_.trace_) traced_[number] = {clock, of_.trace_->last_finish(rank)};
    const std::span sent(turn.sent, turn.sends);
    Seconds packing = 0;
    bool packs = false;
    for (std::uint32_t i = 0; i < sent.size(); ++i) {
      const auto flight = turn.sends_begin + i;
      packs = packs || (sent[i].packed_pieces > 0 && is_called_for(sent[i], flight));
      packing += copying(packed(sent[i]), sent[i], flight, turn);
    }
    copy(rank, packing, packs, turn.batch);
    parts_[number] = of_.parts_[at(rank)];
    turn.is_posted = true;
    for (auto f = std::exchange(turn.last_waiting, none); f != none; f = next_waiting_[f])
      set_off(f, message_of(f), clock);
    launch(turn, clock);
    note(number);
  }

  void launch(const Turn& turn, Seconds clock) {
    Launching launching(clock);
    for (std::uint32_t i = 0; i < turn.sends; ++i) {
      auto& flight = flights_[turn.sends_begin + i];
      const auto before = launching.left_at();
      launching.next(flight, load_of(turn.sends_begin + i, turn.sent[i]));
      if (of_.trace_)
        of_.trace_->spend(turn.rank, Activity::send, batches_[turn.batch].stage, before, launching.left_at(),
                          turn.sent[i].to, turn.sent[i].bytes);
    }
    launched_[at(turn.rank)] = launching;
    for (std::uint32_t i = 0; i < turn.sends; ++i) {
      const auto f = turn.sends_begin + i;
      if (!flights_[f].awaits_receive) {
        set_off(f, turn.sent[i], 0);
        continue;
      }
      auto& receiver = turns_[flights_[f].receiving_turn];
      if (receiver.is_posted) set_off(f, turn.sent[i], of_.clock_[at(receiver.rank)]);
      else next_waiting_[f] = std::exchange(receiver.last_waiting, f);
    }
  }

  /// @param posted  when its receive is posted
  void set_off(std::uint32_t number, const Message& message, Seconds posted) {
    auto& flight = flights_[number];
    const auto load = load_of(number, message);
    const double bytes = load.messages * load.bytes;
    flight.await(posted, load);
    const auto add_job = [&](std::size_t server, Seconds seconds, double to_fill) {
      ++flight.servers_left;
      servers_[server].add({flight.moves_from, seconds, to_fill, number});
      wake_for_next(server);
    };
    if (has_links_)
      if (const auto seconds = link_seconds(bytes, flight.level); seconds > 0)
        add_job(shared_.servers() + at(message.from), seconds, 1);
    const int senders = for_all_ ? of_.ranks_together_[flight.level] : 1;
    shared_.each(message.from, message.to, flight.level, [&](const SharedRate& shared) {
      add_job(shared.server, senders * bytes / shared.rate_bytes_per_s,
              shared.rate_bytes_per_s * load.least_beta / senders);
    });
    if (flight.servers_left == 0) arrive(number);
  }

  /// Makes an event for when something happens at a server, unless there is one before.
  void wake_for_next(std::size_t server) {
    const auto next = servers_[server].next();
    if (next >= wakes_at_[server]) return;
    wakes_at_[server] = next;
    wakes_.push({next, static_cast<std::uint32_t>(server)});
  }

  void wake(std::size_t server, Seconds now) {
    if (now != wakes_at_[server]) return;  // another event came before
    wakes_at_[server] = never;
    servers_[server].run_until(known_until_, [&](std::uint32_t flight, Seconds when) {
      left_servers_.push_back({when, flight, server >= shared_.servers()});
    });
    wake_for_next(server);
  }

  /// Memory is asked for some flights ahead: events come to them in any order.
  void leave_servers() {
    constexpr std::size_t ahead = 8;
    for (std::size_t i = 0; i < left_servers_.size(); ++i) {
      if (i + 2 * ahead < left_servers_.size()) prefetch(flights_[left_servers_[i + 2 * ahead].flight]);
      if (i + ahead < left_servers_.size())
        prefetch(arrivals_[flights_[left_servers_[i + ahead].flight].arrival_number]);
      leave(left_servers_[i]);
    }
    left_servers_.clear();
  }
  template <class Item>
  static void prefetch(const Item& item) {
    __builtin_prefetch(&item);
  }

  void leave(const Left& left) {
    auto& flight = flights_[left.flight];
    if (left.is_link) leave_link(left.flight, left.when);
    else flight.shared_until = std::max(flight.shared_until, left.when);
    if (--flight.servers_left == 0) arrive(left.flight);
  }

  void leave_link(std::uint32_t number, Seconds when) {
    auto& flight = flights_[number];
    const auto load = load_of(number, message_of(number));
    constexpr double rounding = 1e-9;
    const auto alone = link_seconds(load.messages * load.bytes, flight.level);
    if (when > flight.moves_from + alone * (1 + rounding)) flight.leave_link(when);
  }

  void arrive(std::uint32_t number) {
    const auto& flight = flights_[number];
    arrivals_[flight.arrival_number].when = flight.arrival();
    if (!flight.is_eager) note(flight.sending_turn);
    note(flight.receiving_turn);
  }

  /// What holds a rank in its turn is less by one; from the last on, it is known when it is done.
  void note(std::uint32_t turn) {
    if (--left_[turn] == 0) finished_.push_back(turn);
  }

  void finish_all() {
    while (!finished_.empty()) {
      std::ranges::sort(finished_);  // as memory has them
      const auto finished = std::exchange(finished_, {});
      constexpr std::size_t ahead = 4;
      for (std::size_t i = 0; i < finished.size(); ++i) {
        if (i + 2 * ahead < finished.size()) prefetch(turns_[finished[i + 2 * ahead]]);
        if (i + ahead < finished.size()) prefetch_turn(turns_[finished[i + ahead]]);
        finish(finished[i]);
      }
    }
  }
  void prefetch_turn(const Turn& turn) const {
    if (turn.arrivals > 0) prefetch(arrivals_[turn.arrivals_begin]);
    if (turn.sends > 0) prefetch(flights_[turn.sends_begin]);
    if (turn.next == none) return;
    prefetch(turns_[turn.next]);
    prefetch(parts_[turn.next]);
  }

  static Way way_of(const Flight& flight) {
    return {flight.was_awaited ? flight.receiving_turn : flight.sending_turn, flight.latency, flight.transfer,
            std::max(0.0, flight.shared_until - flight.unshared_until)};
  }

  Parts spent_on(const Way& way) const {
    auto spent = parts_[way.turn];
    add(spent, CostPart::latency, way.latency);
    add(spent, CostPart::transfer, way.transfer);
    add(spent, CostPart::sharing, way.sharing);
    return spent;
  }

  /// The later one of when all sends are out and when all receives are in.
  void finish(std::uint32_t number) {
    const auto& turn = turns_[number];
    const auto posted = of_.clock_[at(turn.rank)];
    auto cause = number;
    if (turn.sends > 0) cause = finish_sends(turn);
    if (turn.arrivals > 0) finish_receives(number, posted, cause);
    if (of_.trace_) trace_finish(turn, cause);
    Seconds unpacking = 0;
    bool unpacks = false;
    for (const auto& arrival : arrivals_of(turn)) {
      unpacks = unpacks || arrival.is_unpacked;
      unpacking += arrival.unpacking;
    }
    copy(turn.rank, unpacking, unpacks, turn.batch);
    end_batch(turn.rank, turn.batch);
    go_on(turn.rank, turn.batch + 1, turn.next);
  }

  std::span<Arrival> arrivals_of(const Turn& turn) {
    return std::span(arrivals_).subspan(turn.arrivals_begin, turn.arrivals);
  }

  /// @return the turn on whose parts it builds
  std::uint32_t finish_sends(const Turn& turn) {
    const auto& launched = launched_[at(turn.rank)];
    const auto out = [&](const Flight& flight) { return out_at(flight, launched.left_at()); };
    const auto& last = *std::ranges::max_element(std::span(flights_).subspan(turn.sends_begin, turn.sends), {}, out);
    const auto way = last.is_eager ? Way{last.sending_turn, launched.latency(), launched.transfer()} : way_of(last);
    of_.clock_[at(turn.rank)] = out(last);
    of_.parts_[at(turn.rank)] = spent_on(way);
    return way.turn;
  }

  /// @param posted  when it posted its receives
  /// @param cause   gets the turn on whose parts it builds, if the receives are later than the sends
  void finish_receives(std::uint32_t number, Seconds posted, std::uint32_t& cause) {
    const auto& turn = turns_[number];
    const auto arrivals = arrivals_of(turn);
    const auto launched = turn.sends > 0 ? launched_[at(turn.rank)].left_at() : posted;
    const auto [ready, finished] =
        take_in(arrivals, posted, launched, of_.machine_, [&](const Arrival& arrival, Seconds taken) {
          if (of_.trace_)
            of_.trace_->spend(turn.rank, Activity::receive, batches_[turn.batch].stage, taken - arrival.taking, taken);
        });
    auto& clock = of_.clock_[at(turn.rank)];
    if (turn.sends > 0 && finished <= clock) return;
    clock = finished;
    // The last message was late, or the receiver was.
    const auto& last = arrivals.back();
    const auto way = last.when > ready ? way_of(flights_[last.flight]) : Way{number};
    auto& spent = of_.parts_[at(turn.rank)] = spent_on(way);
    add(spent, CostPart::receiving, finished - std::max(last.when, ready));
    cause = way.turn;
  }

  void trace_finish(const Turn& turn, std::uint32_t cause) {
    of_.trace_->finish({.leg = {.from = turns_[cause].rank,
                                .to = turn.rank,
                                .stage = batches_[turn.batch].stage,
                                .begin = traced_[cause].began,
                                .end = of_.clock_[at(turn.rank)]},
                        .before = traced_[cause].before});
  }

  Simulation& of_;
  std::span<const TimedBatch> batches_;
  bool for_all_;
  std::vector<Seconds> wait_until_{0}, calls_until_{0};  // before each batch and those before it
  std::vector<std::size_t> stage_ends_;                  // numbers of batches
  SharedRates shared_;
  bool has_links_ = false, any_waits_ = false;
  Seconds lookahead_ = never;
  std::vector<Server> servers_;      // those that ranks share, then the links of ranks
  std::vector<Seconds> wakes_at_;    // each of them
  std::vector<Turn> turns_;          // of all ranks and batches
  std::vector<std::uint32_t> left_;  // by turn: messages that hold the rank and are not there yet, sent or received,
                                     // and its launching
  std::vector<Parts> parts_;         // by turn: of its rank, until its first message leaves
  std::vector<TracedTurn> traced_;   // by turn, where that is recorded
  std::vector<Flight> flights_;      // of all batches
  std::vector<std::uint32_t> messages_;      // by flight, where they stand for several
  std::vector<std::uint32_t> next_waiting_;  // by flight, where some wait
  std::vector<Arrival> arrivals_;            // by the receiver's turn
  std::vector<std::uint32_t> first_turn_;    // by rank
  std::vector<Launching> launched_;          // by rank: the messages of the present one
  EventQueue<Wake> wakes_;
  std::vector<Wake> due_;
  std::vector<Left> left_servers_;       // in the last turn of events
  std::vector<std::uint32_t> finished_;  // turns
  Seconds known_until_ = 0;              // no job comes before that will be added later
};

Simulation::Simulation(int ranks, std::size_t stages, const Layout& layout, const Machine& machine,
                       TraceRecorder* trace)
    : trace_(trace),
      layout_(layout),
      machine_(machine),
      copies_cost_(copies_cost(machine)),
      channels_(channels_of(machine)),
      clock_(at(ranks), 0),
      parts_(clock_.size()),
      ends_(stages) {
  ranks_together_.fill(layout.ranks());
  for (Level level = 0; level < layout.node_level(); ++level) {
    const auto together = layout.ranks_of_instances(level);
    if (together.empty()) continue;
    const bool is_even = std::ranges::count(together, together.front()) == std::ssize(together);
    ranks_together_[level] = is_even ? together.front() : 0;
  }
}

void Simulation::spend(Rank rank, Seconds seconds, CostPart which, Activity activity, int stage) {
  if (seconds == 0) return;
  auto& clock = clock_[at(rank)];
  if (trace_) trace_->spend(rank, activity, stage, clock, clock + seconds);
  clock += seconds;
  add(parts_[at(rank)], which, seconds);
}

void Simulation::copy_to_itself(Rank rank, Bytes bytes) {
  spend(rank, machine_.copy_call_s + copying_seconds(machine_, static_cast<double>(bytes), 1), CostPart::copying,
        Activity::copy, 0);
}

StageEnd Simulation::end_of_all() {
  const auto last = std::ranges::max_element(clock_) - clock_.begin();
  const StageEnd end{static_cast<Rank>(last), clock_[at(last)], parts_[at(last)]};
  std::ranges::fill(parts_, Parts{});
  return end;
}

void Simulation::run(std::span<const TimedBatch> batches) {
  if (do_all_the_same(batches)) run_one_for_all(batches);
  else Run(*this, batches, clock_.size(), false).run();
}

void Simulation::run_repeated(TimedBatch batch, std::uint32_t times) {
  run(std::span(&batch, 1));
  const auto before = latest();
  const auto parts_before = parts_;
  run(std::span(&batch, 1));
  const double left = times - 2;
  const auto seconds = left * (latest() - before);
  for (std::size_t r = 0; r < clock_.size(); ++r) {
    clock_[r] += seconds;
    for (std::size_t p = 0; p < parts_[r].size(); ++p) parts_[r][p] += left * (parts_[r][p] - parts_before[r][p]);
  }
}

/// Of a node that stands for all: do all ranks send the same at the same time? Then each also receives what it sends.
bool Simulation::do_all_the_same(std::span<const TimedBatch> batches) const {
  if (layout_.nodes() > 1 || std::ranges::count(ranks_together_, 0) > 0) return false;
  constexpr double rounding = 1e-12;
  const auto [first, last] = std::ranges::minmax(clock_);
  if (last - first > rounding * last) return false;
  const auto ranks = clock_.size();
  const auto is_alike = [&](const FoldedOf& batch) {
    const auto each = batch.messages.size() / ranks;
    if (batch.messages.empty()) return true;
    if (batch.given.empty() || each * ranks != batch.messages.size()) return false;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t i = 0; i < each; ++i) {
        const auto &message = batch.messages[rank * each + i], &like = batch.messages[i];
        const auto &folded = batch.given[rank * each + i], &like_folded = batch.given[i];
        if (at(message.from) != rank || message.bytes != like.bytes || message.packed_pieces != like.packed_pieces ||
            message.unpacked_pieces != like.unpacked_pieces || message.unpacked_bytes != like.unpacked_bytes ||
            message.is_all_from_sender != like.is_all_from_sender ||
            message.is_all_for_receiver != like.is_all_for_receiver || folded.level != like_folded.level ||
            folded.messages != like_folded.messages)
          return false;
      }
    return true;
  };
  return std::ranges::all_of(batches, [&](const TimedBatch& batch) { return is_alike(batch.messages); });
}

/// Runs what one rank sends as if to itself.
void Simulation::run_one_for_all(std::span<const TimedBatch> batches) {
  std::vector<std::vector<Message>> messages;
  std::vector<TimedBatch> own;
  for (const auto& batch : batches) {
    const auto& [layout, of_all, given] = batch.messages;
    const auto each = of_all.size() / clock_.size();
    auto& sent = messages.emplace_back(of_all.begin(), of_all.begin() + static_cast<std::ptrdiff_t>(each));
    for (auto& message : sent) message.to = message.from;
    own.push_back({.messages = {layout, sent, given.first(each)},
                   .stage = batch.stage,
                   .ends_stage = batch.ends_stage,
                   .may_use_datatypes = batch.may_use_datatypes,
                   .wait_s = batch.wait_s,
                   .calls_s = batch.calls_s});
  }
  Run(*this, own, 1, true).run();
  std::ranges::fill(clock_, clock_.front());
  std::ranges::fill(parts_, parts_.front());
}

}  // namespace commpass
