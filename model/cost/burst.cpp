// The burst model: every rank has a clock, and the cost is the last clock.
//
// Batch by batch (all of one stage if the window is unlimited), for the k-th message of a rank's batch:
//   launch   L_k = start + Σ_{i<k} (α_next,i + β_next,i·s_i) + α_next,k   messages leave their sender one after another
//   begin    B_k = L_k + (β_k − β)·s_k, with the least β of the locality: what a slower protocol takes longer is time
//                  before its bytes can move. Of one that waits for its receiver (rendezvous), when that enters the
//                  batch if it is later
//   moving   M_k = B_k + α_k − α_next,k − α_receive,k   its bytes move from then on, for β·s_k if they are alone
//   link     where the rate of a rank's link is known, the rank's own messages share it
//   sharing  C_k = when the servers that ranks share (a socket, a node, a NIC out, a NIC in, the links of groups, the
//                  core) have moved its bytes; those that are there at once get equal parts of the rate
//   arrival  A_k = max(M_k + β·s_k, C_k) + α_receive,k
// Without sharing, m like messages take α + (m−1)·α_next + m·β·s if β_next is β, as it is where it was not measured.
// A rank takes messages in when its own have left it, one after another, in order of arrival, for α_receive +
// β_receive·s each, of which α holds the part of a lone message; m receives posted at once cost γ·m²/2 more. Where
// α_receive was not measured, receiving costs as much as sending, and goes on at the same time. A rank goes on when its
// sends are out (eager ones: when they have left it) and its receives are in.
//
// Before each batch every rank is busy with the calls that begin and end it, if these were measured.
//
// Servers are asked batch by batch. Where that misses much, since some ranks are in their next batch already, all
// batches are run in order of time first (overlap.hpp), and then again as above with what servers did there.
//
// A stage that the MPI library runs ends later at every rank, by what its call and each of the rank's messages take
// beyond that.
#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "model/cost/batches.hpp"
#include "model/cost/flight.hpp"
#include "model/cost/message_copies.hpp"
#include "model/cost/models.hpp"
#include "model/cost/overlap.hpp"
#include "model/cost/servers.hpp"
#include "model/cost/staging.hpp"
#include "model/cost/trace.hpp"
#include "model/error.hpp"
#include "model/grouping.hpp"

namespace commpass {

namespace {

std::size_t at_index(int i) { return static_cast<std::size_t>(i); }

/// What is made once may have derived datatypes, where our own requests move it.
bool may_use_datatypes(const StageInfo& stage, Usage usage) { return usage == Usage::planned && !stage.by_library; }

Seconds batch_calls_s(const Machine& machine, Usage usage) {
  return (usage == Usage::planned ? machine.operations.batch_s : machine.operations.batch_once_s).value_or(0);
}

using Parts = std::array<Seconds, cost_part_count>;
Seconds& part(Parts& parts, CostPart which) { return parts[static_cast<std::size_t>(which)]; }

class Clocks {
 public:
  Clocks(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage, TraceRecorder* trace)
      : trace_(trace),
        layout_(layout),
        machine_(machine),
        usage_(usage),
        servers_(layout, machine),
        launching_(machine),
        clock_(at_index(schedule.ranks), 0),
        launched_(clock_),
        parts_(clock_.size()),
        last_arrival_(clock_.size(), 0),
        last_way_(clock_.size()),
        by_receiver_(clock_.size()),
        advanced_(clock_.size(), false),
        starts_copies_(clock_.size(), false) {
    batch_calls_s_ = batch_calls_s(machine, usage);
    copies_cost_ = copies_cost(machine);
    std::vector<int> on_socket(at_index(layout.sockets()), 0);
    for (Rank rank = 0; rank < layout.ranks(); ++rank) ++on_socket[at_index(layout.socket(rank))];
    if (std::ranges::count(on_socket, on_socket.front()) == std::ssize(on_socket)) ranks_on_socket_ = on_socket.front();
    nodes_are_separate_ = servers_.are_of_one_node() && layout.is_in_order_of_nodes();
  }

  Seconds latest() const { return std::ranges::max(clock_); }

  /// What was spent since the last call on the way to the last finish: by the last rank, and by those it had to wait
  /// for.
  Parts take_parts() {
    const auto last = std::ranges::max_element(clock_) - clock_.begin();
    const auto result = parts_[at_index(static_cast<int>(last))];
    std::ranges::fill(parts_, Parts{});
    return result;
  }

  void copy_to_itself(Rank rank, Bytes bytes) {
    if (machine_.copy_call_s > 0) spend_on_copies(rank, machine_.copy_call_s);
    spend_on_copies(rank, copying_seconds(machine_, static_cast<double>(bytes), 1));
  }

  /// Each rank copies between its device and host memory, on its own.
  void stage(std::span<const Seconds> seconds) {
    for (std::size_t r = 0; r < clock_.size(); ++r)
      spend(static_cast<Rank>(r), seconds[r], CostPart::staging, Activity::copy);
  }

  void begin_stage(const StageInfo& stage) { may_use_datatypes_ = commpass::may_use_datatypes(stage, usage_); }

  /// Takes this in place of what servers do, message after message of batch after batch.
  void know(std::span<const Moved> moved) { moved_ = moved; }
  /// How long servers were busy with one batch when the next came.
  Seconds overlap() const { return servers_.overlap(); }

  const std::vector<Seconds>& now() const { return clock_; }

  /// Adds what the MPI library's collective takes beyond the messages of a stage, which have been run.
  /// @param entered  when each rank entered the stage; it does not leave earlier, however fast the library is
  void add_library(const FoldedOf& stage, std::span<const Seconds> entered) {
    const auto [key, call_s, each] = library_call(machine_.operations, usage_);
    if (!call_s)
      throw InputError("profile " + machine_.name,
                       std::string("it has no ") + key + ", which the MPI library's collective costs",
                       "calibrate, or use another strategy");
    std::vector<std::int64_t> ends(clock_.size());  // of messages, at each rank
    for (const auto& message : stage.messages)
      for (const Rank rank : {message.from, message.to})
        ends[at_index(rank)] += std::int64_t{stage(message).messages} * stage(message).batches;
    for (std::size_t r = 0; r < clock_.size(); ++r) {
      const Seconds left = std::max(entered[r], clock_[r] + *call_s + static_cast<double>(ends[r]) * each);
      spend(static_cast<Rank>(r), left - clock_[r], CostPart::library, Activity::library);
    }
  }

  /// Runs the messages of one batch, which are sorted by sender, and the batches that it stands for. When the first one
  /// has gone by, all take as long.
  void run(const FoldedOf& batch) {
    const auto batches = batch.messages.empty() ? 1 : batch(batch.messages.front()).batches;
    run_once(batch);
    if (batches == 1) return;
    const auto before = latest();
    const auto parts_before = parts_;
    run_once(batch);
    const double left = batches - 2;
    const auto seconds = left * (latest() - before);
    for (std::size_t r = 0; r < clock_.size(); ++r) {
      launched_[r] = clock_[r] += seconds;
      for (std::size_t p = 0; p < parts_[r].size(); ++p) parts_[r][p] += left * (parts_[r][p] - parts_before[r][p]);
    }
  }

 private:
  struct Finish {
    Rank rank;
    Seconds when;
    Parts spent;
    Rank from;  // on whose parts it builds
  };

  void run_once(const FoldedOf& batch) {
    call(batch_calls_s_);
    if (moved_.empty() && do_all_the_same(batch)) run_one_for_all(batch);
    else run_each(batch, false);
  }

  /// What every rank calls to begin and end a batch.
  void call(Seconds seconds) {
    if (seconds <= 0) return;
    for (std::size_t r = 0; r < clock_.size(); ++r)
      spend(static_cast<Rank>(r), seconds, CostPart::library, Activity::library);
  }

  /// Of a node that stands for all: are all ranks about to send the same at the same time? Then each also receives what
  /// it sends.
  bool do_all_the_same(const FoldedOf& batch) const {
    const auto ranks = clock_.size(), each = batch.messages.size() / ranks;
    if (batch.given.empty() || each * ranks != batch.messages.size() || each == 0 || ranks_on_socket_ == 0)
      return false;
    constexpr double rounding = 1e-12;
    const auto [first, last] = std::ranges::minmax(clock_);
    if (last - first > rounding * last) return false;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      for (std::size_t i = 0; i < each; ++i) {
        const auto &message = batch.messages[rank * each + i], &like = batch.messages[i];
        const auto &folded = batch.given[rank * each + i], &like_folded = batch.given[i];
        if (at_index(message.from) != rank || message.bytes != like.bytes ||
            message.packed_pieces != like.packed_pieces || message.unpacked_pieces != like.unpacked_pieces ||
            message.unpacked_bytes != like.unpacked_bytes || message.is_all_from_sender != like.is_all_from_sender ||
            message.is_all_for_receiver != like.is_all_for_receiver || folded.locality != like_folded.locality ||
            folded.group_way != like_folded.group_way || folded.messages != like_folded.messages)
          return false;
      }
    return true;
  }

  /// Runs what one rank sends as if to itself.
  void run_one_for_all(const FoldedOf& batch) {
    const auto each = batch.messages.size() / clock_.size();
    own_messages_.assign(batch.messages.begin(), batch.messages.begin() + static_cast<std::ptrdiff_t>(each));
    for (auto& message : own_messages_) message.to = message.from;
    run_each({layout_, own_messages_, batch.given.first(each)}, true);
    std::ranges::fill(clock_, clock_.front());
    std::ranges::fill(launched_, launched_.front());
    std::ranges::fill(parts_, parts_.front());
  }

  void run_each(const FoldedOf& batch, bool for_all) {
    if (trace_) trace_->begin_batch(clock_);
    if (copies_cost_) pack(batch);
    finish_.clear();
    arrivals_.clear();
    for (std::size_t begin = 0; begin < batch.messages.size();) {
      const auto count = count_independent(batch.messages.subspan(begin));
      launch(batch, begin, count, for_all);
      if (moved_.empty()) servers_.serve(flights_);
      else take_what_moved();
      arrive();
      finish_sends();
      begin += count;
    }
    finish_receives();
    advance();
    if (copies_cost_) unpack(batch);
  }

  void pack(const FoldedOf& batch) { copy(batch, packed); }
  void unpack(const FoldedOf& batch) { copy(batch, unpacked); }

  template <class PiecesOf>
  void copy(const FoldedOf& batch, PiecesOf pieces_of) {
    start_copies(batch, pieces_of);
    for (const auto& message : batch.messages)
      if (const CopiedPieces copied = pieces_of(message); copied.pieces > 0)
        spend_on_copies(copied.rank, batch(message).messages * copying_seconds(machine_, copied, may_use_datatypes_));
  }

  /// What comes before all pieces of a batch, at each rank that has some.
  template <class PiecesOf>
  void start_copies(const FoldedOf& batch, PiecesOf pieces_of) {
    if (machine_.copy_call_s == 0) return;
    for (const auto& message : batch.messages) {
      const CopiedPieces copied = pieces_of(message);
      if (copied.pieces == 0 || starts_copies_[at_index(copied.rank)]) continue;
      starts_copies_[at_index(copied.rank)] = true;
      spend_on_copies(copied.rank, machine_.copy_call_s);
    }
    for (const auto& message : batch.messages) starts_copies_[at_index(pieces_of(message).rank)] = false;
  }
  void spend_on_copies(Rank rank, Seconds seconds) { spend(rank, seconds, CostPart::copying, Activity::copy); }

  /// A rank does nothing else for so long.
  void spend(Rank rank, Seconds seconds, CostPart which, Activity activity) {
    auto& clock = clock_[at_index(rank)];
    if (trace_) trace_->spend(rank, activity, clock, clock + seconds);
    launched_[at_index(rank)] = clock += seconds;
    part(parts_[at_index(rank)], which) += seconds;
  }

  /// How many of the first messages share nothing with those after them: some nodes' worth, few enough for the cache.
  std::size_t count_independent(std::span<const Message> messages) const {
    constexpr std::size_t enough = 4096;
    if (!nodes_are_separate_ || messages.size() <= enough) return messages.size();
    const int node = layout_.node(messages[enough - 1].from);
    const auto end =
        std::ranges::find_if(messages.subspan(enough), [&](const Message& m) { return layout_.node(m.from) != node; });
    return static_cast<std::size_t>(end - messages.begin());
  }

  /// @param for_all  do all other ranks send the same at the same time?
  void launch(const FoldedOf& batch, std::size_t begin, std::size_t count, bool for_all) {
    flights_.clear();
    Rank sender = -1;
    for (const auto& message : batch.messages.subspan(begin, count)) {
      const auto from = at_index(message.from);
      if (message.from != std::exchange(sender, message.from)) launching_.begin(clock_[from]);
      auto& flight = flights_.emplace_back();
      launching_.next(message, batch(message), flight);
      if (for_all) flight.senders = flight.locality == Locality::socket ? ranks_on_socket_ : layout_.ranks();
      flight.await(clock_[at_index(message.to)]);
      const auto left_at = launching_.left_at();
      if (trace_) trace_->spend(message.from, Activity::send, launched_[from], left_at, message.to, message.bytes);
      launched_[from] = left_at;
    }
  }

  void take_what_moved() {
    for (std::size_t f = 0; f < flights_.size(); ++f) {
      flights_[f].leave_link(moved_[f].link_until);
      flights_[f].shared_until = moved_[f].shared_until;
    }
    moved_ = moved_.subspan(flights_.size());
  }

  /// On whose parts a flight builds, and what it adds.
  struct Way {
    Rank from = 0;
    Seconds latency = 0, transfer = 0, sharing = 0;
  };

  /// What was spent until a flight arrives: by its sender (or the late receiver) before, and on the way.
  static Way way_of(const Flight& flight) {
    return {flight.was_awaited ? flight.message->to : flight.message->from, flight.latency, flight.transfer,
            std::max(0.0, flight.shared_until - flight.unshared_until)};
  }
  Parts spent_on(const Way& way) const {
    auto spent = parts_[at_index(way.from)];
    part(spent, CostPart::latency) += way.latency;
    part(spent, CostPart::transfer) += way.transfer;
    part(spent, CostPart::sharing) += way.sharing;
    return spent;
  }

  void arrive() {
    for (auto& flight : flights_) {
      flight.arrive();
      arrivals_.push_back(arrival_of(flight));
      const auto to = at_index(flight.message->to);
      if (flight.arrival < last_arrival_[to]) continue;
      last_arrival_[to] = flight.arrival;
      last_way_[to] = way_of(flight);
    }
  }

  Seconds out(const Flight& flight) const { return out_at(flight, launched_[at_index(flight.message->from)]); }

  void finish_sends() {
    for (auto rest = std::span<const Flight>(flights_); !rest.empty();) {
      const Rank rank = rest.front().message->from;
      const Flight* last = &rest.front();
      Seconds finish = out(*last);
      std::size_t count = 1;
      for (; count < rest.size() && rest[count].message->from == rank; ++count)
        if (const auto when = out(rest[count]); when > finish) {
          finish = when;
          last = &rest[count];
        }
      finish_.push_back({rank, finish, spent_on(way_of(*last)), way_of(*last).from});
      rest = rest.subspan(count);
    }
  }

  void finish_receives() {
    const auto receiver = [](const Arrival& a) { return at_index(a.to); };
    for (const auto& [rank, begin, end] : by_receiver_.group(arrivals_, arrivals_by_receiver_, receiver)) {
      const auto own = std::span(arrivals_by_receiver_).subspan(begin, end - begin);
      const auto [ready, finish] =
          take_in(own, clock_[rank], launched_[rank], machine_, [&](const Arrival& arrival, Seconds taken) {
            if (trace_) trace_->spend(arrival.to, Activity::receive, taken - arrival.taking, taken);
          });

      // The last message was late, or the receiver was.
      const Seconds last_arrival = std::exchange(last_arrival_[rank], 0);
      const bool was_late = last_arrival > ready;
      auto spent = was_late ? spent_on(last_way_[rank]) : parts_[rank];
      part(spent, CostPart::receiving) += finish - std::max(last_arrival, ready);
      finish_.push_back({static_cast<Rank>(rank), finish, spent, was_late ? last_way_[rank].from : own.front().to});
    }
  }

  /// Sets the clock of every rank that took part to the later of its sends and its receives.
  void advance() {
    for (const auto& [r, when, spent, from] : finish_) {
      const auto rank = at_index(r);
      if (trace_) trace_->finish(r, when, from);
      if (advanced_[rank] && when <= clock_[rank]) continue;
      launched_[rank] = clock_[rank] = when;
      parts_[rank] = spent;
      advanced_[rank] = true;
    }
    for (const auto& finish : finish_) advanced_[at_index(finish.rank)] = false;
  }

  TraceRecorder* trace_;  // null: nobody listens
  const Layout& layout_;
  const Machine& machine_;
  Usage usage_;
  Servers servers_;
  std::span<const Moved> moved_;  // what is known of the messages that are left; empty: it is found batch by batch
  Launching launching_;
  Seconds batch_calls_s_ = 0;
  bool copies_cost_ = true, may_use_datatypes_ = false;
  int ranks_on_socket_ = 0;            // 0: not the same on all
  std::vector<Message> own_messages_;  // of a rank that stands for all
  bool nodes_are_separate_ = false;    // may the messages of one node be dealt with before those of the next?
  std::vector<Seconds> clock_;
  std::vector<Seconds> launched_;  // when a rank's sends of the batch have left it, and it can take in messages;
                                   // between batches its clock
  std::vector<Parts> parts_;
  std::vector<Flight> flights_;
  std::vector<Seconds>
      last_arrival_;  // by receiver, in this batch; apart from the way there, which fewer messages ask for
  std::vector<Way> last_way_;
  std::vector<Arrival> arrivals_, arrivals_by_receiver_;
  Grouping by_receiver_;
  std::vector<Finish> finish_;
  std::vector<bool> advanced_;       // in the batch that is being finished
  std::vector<bool> starts_copies_;  // while those of a batch are started
};

StageCost add_copies(const char* label, Bytes bytes_max, std::span<const Seconds> seconds, Clocks& clocks) {
  auto cost = stage_of(label, bytes_max);
  const auto before = clocks.latest();
  clocks.stage(seconds);
  cost.seconds = clocks.latest() - before;
  cost.parts = clocks.take_parts();
  return cost;
}

/// What is given to evaluate_burst.
struct Priced {
  const Schedule& schedule;
  const Layout& layout;
  const Machine& machine;
  Usage usage;
  const Foldings* foldings;
  const Staging* staging;

  FoldedOf stage(std::size_t s) const { return {layout, schedule.stages[s].messages, of_stage(foldings, s)}; }
};

/// Each rank's copies before its first message.
void begin_exchange(const Priced& priced, Clocks& clocks, TraceRecorder& recorder, Cost& total) {
  if (priced.staging) {
    recorder.begin_stage(-1);
    total.stages.push_back(add_copies(to_host_label, priced.staging->sent_max, priced.staging->to_host, clocks));
    total.seconds = clocks.latest();
    recorder.begin_stage(0);
  }
  for (Rank rank = 0; rank < priced.schedule.ranks; ++rank)
    if (const auto bytes = priced.schedule.self_bytes[at_index(rank)]; bytes > 0) clocks.copy_to_itself(rank, bytes);
}

/// Batch by batch.
/// @param moved  what is known of each message; empty: nothing
Cost run_all(const Priced& priced, Clocks& clocks, TraceRecorder& recorder, std::span<const Moved> moved = {}) {
  Cost total;
  begin_exchange(priced, clocks, recorder, total);
  clocks.know(moved);
  const auto& stages = priced.schedule.stages;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto folded_of = priced.stage(s);
    auto cost = count_messages(stages[s], folded_of.given);
    const auto entered = stages[s].info.by_library ? clocks.now() : std::vector<Seconds>();
    recorder.begin_stage(static_cast<int>(s));
    clocks.begin_stage(stages[s].info);
    const Batches batches(folded_of);
    for (const auto& batch : batches) clocks.run(batch);
    if (stages[s].info.by_library) clocks.add_library(folded_of, entered);
    cost.seconds = clocks.latest() - total.seconds;
    cost.parts = clocks.take_parts();
    total.seconds += cost.seconds;
    total.stages.push_back(std::move(cost));
  }
  if (priced.staging) {
    recorder.begin_stage(static_cast<int>(stages.size()));
    total.stages.push_back(
        add_copies(to_device_label, priced.staging->received_max, priced.staging->to_device, clocks));
  }
  total.seconds = clocks.latest();  // also without stages: a single rank copies to itself
  return total;
}

/// Do batches overlap so much that it shows, and are they few enough to be run in order of time? Of drawn nodes many
/// are priced.
bool is_worth_ordering(const Priced& priced, const Clocks& clocks) {
  constexpr double shows = 0.005;
  constexpr std::size_t most_of_all = 50'000, most_of_a_node = 8'000;
  const auto most_messages = priced.foldings ? most_of_a_node : most_of_all;
  if (clocks.overlap() <= shows * clocks.latest()) return false;
  std::size_t messages = 0;
  for (std::size_t s = 0; s < priced.schedule.stages.size(); ++s) {
    const auto& stage = priced.schedule.stages[s];
    if (stage.info.by_library) return false;
    if (std::ranges::any_of(of_stage(priced.foldings, s), [](const Folded& f) { return f.batches > 1; })) return false;
    messages += stage.messages.size();
  }
  return messages <= most_messages;
}

std::vector<Moved> move_in_order_of_time(const Priced& priced) {
  Clocks clocks(priced.schedule, priced.layout, priced.machine, priced.usage, nullptr);
  TraceRecorder nobody;
  Cost copies;
  begin_exchange(priced, clocks, nobody, copies);
  std::vector<Batches> stages;
  std::vector<TimedBatch> batches;
  for (std::size_t s = 0; s < priced.schedule.stages.size(); ++s) {
    const bool datatypes = may_use_datatypes(priced.schedule.stages[s].info, priced.usage);
    for (const auto& batch : stages.emplace_back(priced.stage(s))) batches.push_back({batch, datatypes});
  }
  return move_overlapping(batches, clocks.now(), batch_calls_s(priced.machine, priced.usage), priced.layout,
                          priced.machine);
}

}  // namespace

Cost evaluate_burst(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage,
                    const Foldings* foldings, Trace* trace, const Staging* staging, Overlaps overlaps) {
  const Priced priced{schedule, layout, machine, usage, foldings, staging};
  std::vector<Moved> moved;
  {
    Clocks clocks(schedule, layout, machine, usage, nullptr);
    TraceRecorder nobody;
    auto total = run_all(priced, clocks, nobody);
    if (overlaps == Overlaps::priced && is_worth_ordering(priced, clocks)) moved = move_in_order_of_time(priced);
    else if (!trace) return total;
  }
  TraceRecorder recorder;
  Clocks clocks(schedule, layout, machine, usage, trace ? &recorder : nullptr);
  auto total = run_all(priced, clocks, recorder, moved);
  if (trace) *trace = recorder.take(total, clocks.now());
  return total;
}

}  // namespace commpass
