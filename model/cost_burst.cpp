// The burst model: every rank has a clock, and the cost is the last clock.
//
// Batch by batch (all of one stage if the window is unlimited), for the k-th message of a rank's batch:
//   launch   L_k = start + Σ_{i<k} (α_next,i + β_next,i·s_i) + α_next,k   messages leave their sender one after another
//   begin    B_k = L_k, or when the receiver enters the batch if it waits for its receiver (rendezvous) and that is later
//   sharing  C_k = when the servers that ranks share (a socket, a node, a NIC out, a NIC in) have moved its bytes; those
//                  that are there at once get equal parts of the rate
//   arrival  A_k = max(B_k + β_k·s_k, C_k) + α_k − α_next,k
// Without sharing, m like messages take α + (m−1)·α_next + m·β·s if β_next is β, as it is where it was not measured.
// A rank takes messages in when its own have left it, one after another, in order of arrival, for α_receive +
// β_receive·s each, of which α holds the part of a lone message; m receives posted at once cost γ·m²/2 more. A rank goes
// on when its sends are out (eager ones: when they have left it) and its receives are in.
#include <algorithm>
#include <span>
#include <utility>

#include "model/cost_models.hpp"

namespace commpass {

namespace {

std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

using Parts = std::array<Seconds, cost_part_count>;
Seconds& part(Parts& parts, CostPart which) { return parts[static_cast<std::size_t>(which)]; }

/// A message on its way.
struct Flight {
  const Message* message = nullptr;
  const Protocol* protocol = nullptr;
  Locality locality = Locality::network;
  bool is_eager = false;     // does its sender go on without waiting for the receiver?
  bool was_awaited = false;  // was it the receiver that was late?
  Seconds begin = 0;         // B_k
  Seconds shared_until = 0;  // C_k, 0 if nothing is shared
  Seconds arrival = 0;       // A_k
  // How the way from the sender's (or the late receiver's) start to the arrival divides up, without sharing.
  Seconds latency = 0;
  Seconds transfer = 0;

  /// The part of α that its sender is busy.
  Seconds launching() const { return std::min(protocol->alpha_next_s, protocol->alpha_s); }
  Seconds unshared_until() const { return begin + protocol->beta_s_per_byte * static_cast<double>(message->bytes); }
};

/// What ranks share, each with one rate: sockets, nodes, NICs.
class Servers {
 public:
  Servers(const Layout& layout, const Machine& machine) : layout_(layout), machine_(machine) {
    const auto rate = [&](Locality locality) {
      const auto* channel = machine.host.find(locality);
      return channel ? channel->aggregate_rate_bytes_per_s : std::numeric_limits<double>::infinity();
    };
    socket_rate_ = rate(Locality::socket);
    node_rate_ = rate(Locality::node);
    network_rate_ = rate(Locality::network);
    busy_until_.resize(at_index(layout.sockets() + 3 * layout.nodes()), 0);
  }

  /// Sets `shared_until` of every flight of a batch.
  void serve(std::span<Flight> flights) {
    jobs_.clear();
    for (auto& flight : flights) {
      const auto from = flight.message->from, to = flight.message->to;
      const int sockets = layout_.sockets(), nodes = layout_.nodes();
      switch (flight.locality) {
        case Locality::socket: add(layout_.socket(from), flight, socket_rate_); break;
        case Locality::node: add(sockets + layout_.node(from), flight, node_rate_); break;
        case Locality::network:
          add(sockets + nodes + layout_.node(from), flight, std::min(network_rate_, machine_.injection_rate_bytes_per_s));
          add(sockets + 2 * nodes + layout_.node(to), flight, machine_.ejection_rate_bytes_per_s);
      }
    }
    std::ranges::sort(jobs_, {}, [](const Job& j) { return std::pair(j.server, j.flight->begin); });
    for (auto rest = std::span<const Job>(jobs_); !rest.empty();) {
      const auto end = std::ranges::find_if(rest, [&](const Job& j) { return j.server != rest.front().server; });
      const auto own = rest.first(static_cast<std::size_t>(end - rest.begin()));
      share(own, busy_until_[at_index(own.front().server)]);
      rest = rest.subspan(own.size());
    }
  }

 private:
  struct Job {
    int server;
    Flight* flight;
    Seconds seconds;
  };
  struct End {
    Seconds served;
    Flight* flight;
  };

  /// Moves the jobs of one server, in order of their begin: those that are there at once get equal parts of its rate. Begins
  /// when the server has done the work of earlier batches.
  void share(std::span<const Job> jobs, Seconds& busy_until) {
    Seconds now = busy_until;
    Seconds served = 0;  // of every job that is there, since the first came, at full rate
    ends_.clear();       // a heap: at which `served` a job is done
    const auto later = [](const End& a, const End& b) { return a.served > b.served; };
    const auto run_until = [&](Seconds when) {
      while (!ends_.empty()) {
        const Seconds done = now + (ends_.front().served - served) * static_cast<double>(ends_.size());
        if (done > when) {
          served += (when - now) / static_cast<double>(ends_.size());
          break;
        }
        now = done;
        served = ends_.front().served;
        ends_.front().flight->shared_until = std::max(ends_.front().flight->shared_until, done);
        std::ranges::pop_heap(ends_, later);
        ends_.pop_back();
      }
      now = std::max(now, when);
    };
    for (const auto& job : jobs) {
      run_until(std::max(job.flight->begin, busy_until));
      ends_.push_back({served + job.seconds, job.flight});
      std::ranges::push_heap(ends_, later);
    }
    while (!ends_.empty()) run_until(now + (ends_.front().served - served) * static_cast<double>(ends_.size()));
    busy_until = now;
  }

  void add(int server, Flight& flight, double rate) {
    if (rate != std::numeric_limits<double>::infinity())
      jobs_.push_back({server, &flight, static_cast<double>(flight.message->bytes) / rate});
  }

  const Layout& layout_;
  const Machine& machine_;
  double socket_rate_, node_rate_, network_rate_;
  std::vector<Seconds> busy_until_;  // by server
  std::vector<Job> jobs_;
  std::vector<End> ends_;
};

class Clocks {
 public:
  Clocks(const Schedule& schedule, const Layout& layout, const Machine& machine)
      : machine_(machine), servers_(layout, machine), clock_(at_index(schedule.ranks), 0),
        parts_(at_index(schedule.ranks)) {}

  Seconds latest() const { return std::ranges::max(clock_); }

  /// What was spent since the last call on the way to the last finish: by the last rank, and by those it had to wait for.
  Parts take_parts() {
    const auto last = std::ranges::max_element(clock_) - clock_.begin();
    const auto result = parts_[at_index(static_cast<int>(last))];
    std::ranges::fill(parts_, Parts{});
    return result;
  }

  void copy(Rank rank, Bytes bytes, std::int64_t pieces) {
    const auto seconds = static_cast<double>(bytes) / machine_.copy_rate_bytes_per_s +
                         static_cast<double>(pieces) * machine_.copy_block_s;
    clock_[at_index(rank)] += seconds;
    part(parts_[at_index(rank)], CostPart::copying) += seconds;
  }

  /// Runs the messages of one batch, which are sorted by sender.
  void run(std::span<const Message* const> messages, const LocalityOf& locality_of) {
    pack(messages);
    launch(messages, locality_of);
    servers_.serve(flights_);
    for (auto& flight : flights_)
      flight.arrival = std::max(flight.unshared_until(), flight.shared_until) + flight.protocol->alpha_s - flight.launching();
    finish_.clear();
    finish_sends();
    finish_receives();
    advance();
    for (const auto* message : messages)
      if (message->unpacked_pieces > 0) copy(message->to, message->unpacked_bytes, message->unpacked_pieces);
  }

 private:
  struct Finish {
    Rank rank;
    Seconds when;
    Parts spent;
  };

  void pack(std::span<const Message* const> messages) {
    for (const auto* message : messages)
      if (message->packed_pieces > 0) copy(message->from, message->bytes, message->packed_pieces);
  }

  void launch(std::span<const Message* const> messages, const LocalityOf& locality_of) {
    flights_.clear();
    launched_ = clock_;
    Seconds latency = 0, transfer = 0;  // of the sender's messages so far
    for (const auto* message : messages) {
      const auto from = at_index(message->from), to = at_index(message->to);
      if (flights_.empty() || flights_.back().message->from != message->from) latency = transfer = 0;
      const auto locality = locality_of(*message);
      const auto& channel = *machine_.host.find(locality);
      const auto& protocol = channel.protocol(message->bytes);
      const auto size = static_cast<double>(message->bytes);
      const auto rendezvous = channel.rendezvous_from_bytes;
      auto& flight = flights_.emplace_back();
      flight.message = message;
      flight.protocol = &protocol;
      flight.locality = locality;
      flight.is_eager = rendezvous && message->bytes < *rendezvous;
      flight.begin = clock_[from] + latency + transfer + flight.launching();
      flight.latency = latency + protocol.alpha_s;
      flight.transfer = transfer + protocol.beta_s_per_byte * size;
      if (rendezvous && !flight.is_eager && clock_[to] > flight.begin) {
        flight.was_awaited = true;
        flight.begin = clock_[to];
        flight.latency = protocol.alpha_s - flight.launching();
        flight.transfer = protocol.beta_s_per_byte * size;
      }
      latency += protocol.alpha_next_s;
      transfer += protocol.beta_next_s_per_byte.value_or(protocol.beta_s_per_byte) * size;
      launched_[from] = clock_[from] + latency + transfer;
    }
  }

  /// What was spent until a flight arrives: by its sender (or the late receiver) before, and on the way.
  Parts path(const Flight& flight) const {
    auto spent = parts_[at_index(flight.was_awaited ? flight.message->to : flight.message->from)];
    part(spent, CostPart::latency) += flight.latency;
    part(spent, CostPart::transfer) += flight.transfer;
    part(spent, CostPart::sharing) += std::max(0.0, flight.shared_until - flight.unshared_until());
    return spent;
  }

  /// A send is out when the message has arrived, before the receiver deals with it; an eager one when it has left.
  void finish_sends() {
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      const auto& flight = flights_[i];
      const Seconds out = flight.is_eager ? launched_[at_index(flight.message->from)] : flight.arrival - flight.protocol->alpha_receive_s.value_or(0);
      if (i == 0 || flights_[i - 1].message->from != flight.message->from)
        finish_.push_back({flight.message->from, out, path(flight)});
      else if (out > finish_.back().when)
        finish_.back() = {flight.message->from, out, path(flight)};
    }
  }

  void finish_receives() {
    std::ranges::sort(flights_, {}, [](const Flight& f) { return std::pair(f.message->to, f.arrival); });
    for (std::size_t i = 0; i < flights_.size();) {
      const Rank rank = flights_[i].message->to;
      const Seconds ready = launched_[at_index(rank)];
      Seconds finish = ready;
      std::array<double, locality_count> posted{};
      std::size_t last = i;
      for (; i < flights_.size() && flights_[i].message->to == rank; ++i) {
        const auto& flight = flights_[i];
        const Seconds taking = flight.protocol->receive_seconds(flight.message->bytes);
        finish = std::max(finish, flight.arrival - taking) + taking;
        ++posted[static_cast<std::size_t>(flight.locality)];
        last = i;
      }
      for (std::size_t l = 0; l < posted.size(); ++l)
        if (posted[l] > 0) finish += machine_.host.find(static_cast<Locality>(l))->gamma_s * posted[l] * posted[l] / 2;

      // The last message was late, or the receiver was.
      const auto arrival = flights_[last].arrival;
      auto spent = arrival > ready ? path(flights_[last]) : parts_[at_index(rank)];
      part(spent, CostPart::receiving) += finish - std::max(arrival, ready);
      finish_.push_back({rank, finish, spent});
    }
  }

  /// Sets the clock of every rank that took part to the later of its sends and its receives.
  void advance() {
    std::ranges::sort(finish_, {}, [](const Finish& f) { return std::pair(f.rank, f.when); });
    for (std::size_t i = 0; i < finish_.size(); ++i) {
      if (i + 1 < finish_.size() && finish_[i + 1].rank == finish_[i].rank) continue;
      const auto rank = at_index(finish_[i].rank);
      clock_[rank] = finish_[i].when;
      parts_[rank] = finish_[i].spent;
    }
  }

  const Machine& machine_;
  Servers servers_;
  std::vector<Seconds> clock_;
  std::vector<Seconds> launched_;  // when a rank's sends of the batch have left it, and it can take in messages
  std::vector<Parts> parts_;
  std::vector<Flight> flights_;
  std::vector<Finish> finish_;
};

}  // namespace

Cost evaluate_burst(const Schedule& schedule, const Layout& layout, const Machine& machine, const Localities* localities) {
  Clocks clocks(schedule, layout, machine);
  for (Rank rank = 0; rank < schedule.ranks; ++rank)
    if (const auto bytes = schedule.self_bytes[at_index(rank)]; bytes > 0) clocks.copy(rank, bytes, 1);
  Cost total;
  std::vector<const Message*> messages;
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto& stage = schedule.stages[s];
    const LocalityOf locality_of(layout, schedule, localities, s);
    auto cost = count_messages(stage);
    messages.clear();
    for (const auto& message : stage.messages) messages.push_back(&message);
    std::ranges::stable_sort(messages, {}, &Message::batch);
    for (auto rest = std::span<const Message* const>(messages); !rest.empty();) {
      const auto end = std::ranges::find_if(rest, [&](const Message* m) { return m->batch != rest.front()->batch; });
      const auto size = static_cast<std::size_t>(end - rest.begin());
      clocks.run(rest.first(size), locality_of);
      rest = rest.subspan(size);
    }
    cost.seconds = clocks.latest() - total.seconds;
    cost.parts = clocks.take_parts();
    total.seconds += cost.seconds;
    total.stages.push_back(std::move(cost));
  }
  total.seconds = clocks.latest();  // also without stages: a single rank copies to itself
  return total;
}

}  // namespace commpass
