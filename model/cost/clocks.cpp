#include "model/cost/clocks.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "model/base/error.hpp"
#include "model/cost/message_copies.hpp"

namespace commpass {

namespace {

std::size_t at_rank(int i) { return static_cast<std::size_t>(i); }

Seconds& part(Clocks::Parts& parts, CostPart which) { return parts[static_cast<std::size_t>(which)]; }

}  // namespace

bool may_use_datatypes(const StageInfo& stage, Usage usage) { return usage == Usage::planned && !stage.by_library; }

Seconds batch_calls_s(const Machine& machine, Usage usage) {
  return (usage == Usage::planned ? machine.operations.batch_s : machine.operations.batch_once_s).value_or(0);
}

bool follows_another(const FoldedOf& batch) { return !batch.messages.empty() && batch.messages.front().batch > 0; }

Seconds skew_seconds(const FoldedOf& batch, const Layout& layout, const Machine& machine) {
  const auto skew_s = machine.operations.skew_s.value_or(0);
  if (skew_s == 0) return 0;
  const bool leaves_nodes = std::ranges::any_of(
      batch.messages, [&](const Message& message) { return batch(message).level > layout.node_level(); });
  return leaves_nodes ? skew_s * std::sqrt(layout.nodes()) : 0;
}

Clocks::Clocks(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage,
               TraceRecorder* trace)
    : trace_(trace),
      layout_(layout),
      machine_(machine),
      usage_(usage),
      servers_(layout, machine),
      launching_(layout, machine),
      clock_(at_rank(schedule.ranks), 0),
      launched_(clock_),
      parts_(clock_.size()),
      last_arrival_(clock_.size(), 0),
      last_way_(clock_.size()),
      by_receiver_(clock_.size()),
      advanced_(clock_.size(), false),
      starts_copies_(clock_.size(), false) {
  batch_calls_s_ = batch_calls_s(machine, usage);
  copies_cost_ = copies_cost(machine);
  ranks_together_.fill(layout.ranks());
  for (Level level = 0; level < layout.node_level(); ++level) {
    const auto together = layout.ranks_of_instances(level);
    if (together.empty()) continue;
    const bool is_even = std::ranges::count(together, together.front()) == std::ssize(together);
    ranks_together_[level] = is_even ? together.front() : 0;
  }
  nodes_are_separate_ = servers_.are_of_one_node() && layout.is_in_order_of_nodes();
}

Clocks::Parts Clocks::take_parts() {
  const auto last = std::ranges::max_element(clock_) - clock_.begin();
  const auto result = parts_[at_rank(static_cast<int>(last))];
  std::ranges::fill(parts_, Parts{});
  return result;
}

void Clocks::copy_to_itself(Rank rank, Bytes bytes) {
  if (machine_.copy_call_s > 0) spend_on_copies(rank, machine_.copy_call_s);
  spend_on_copies(rank, copying_seconds(machine_, static_cast<double>(bytes), 1));
}

void Clocks::stage(std::span<const Seconds> seconds) {
  for (std::size_t r = 0; r < clock_.size(); ++r)
    spend(static_cast<Rank>(r), seconds[r], CostPart::staging, Activity::copy);
}

void Clocks::add_library(const FoldedOf& stage, std::span<const Seconds> entered) {
  const auto [key, call_s, each] = library_call(machine_.operations, usage_);
  if (!call_s)
    throw InputError("profile " + machine_.name,
                     std::string("it has no ") + key + ", which the MPI library's collective costs",
                     "calibrate, or use another strategy");
  std::vector<std::int64_t> ends(clock_.size());  // of messages, at each rank
  for (const auto& message : stage.messages)
    for (const Rank rank : {message.from, message.to})
      ends[at_rank(rank)] += std::int64_t{stage(message).messages} * stage(message).batches;
  for (std::size_t r = 0; r < clock_.size(); ++r) {
    const Seconds left = std::max(entered[r], clock_[r] + *call_s + static_cast<double>(ends[r]) * each);
    spend(static_cast<Rank>(r), left - clock_[r], CostPart::library, Activity::library);
  }
}

void Clocks::run(const FoldedOf& batch) {
  const auto batches = batch.messages.empty() ? 1 : batch(batch.messages.front()).batches;
  run_once(batch, follows_another(batch));
  if (batches == 1) return;
  const auto before = latest();
  const auto parts_before = parts_;
  run_once(batch, true);
  const double left = batches - 2;
  const auto seconds = left * (latest() - before);
  for (std::size_t r = 0; r < clock_.size(); ++r) {
    launched_[r] = clock_[r] += seconds;
    for (std::size_t p = 0; p < parts_[r].size(); ++p) parts_[r][p] += left * (parts_[r][p] - parts_before[r][p]);
  }
}

void Clocks::run_once(const FoldedOf& batch, bool follows) {
  if (follows) spend_all(skew_seconds(batch, layout_, machine_), CostPart::latency, Activity::wait);
  spend_all(batch_calls_s_, CostPart::library, Activity::library);
  if (moved_.empty() && do_all_the_same(batch)) run_one_for_all(batch);
  else run_each(batch, false);
}

void Clocks::spend_all(Seconds seconds, CostPart which, Activity activity) {
  if (seconds <= 0) return;
  for (std::size_t r = 0; r < clock_.size(); ++r) spend(static_cast<Rank>(r), seconds, which, activity);
}

bool Clocks::do_all_the_same(const FoldedOf& batch) const {
  const auto ranks = clock_.size(), each = batch.messages.size() / ranks;
  if (batch.given.empty() || each * ranks != batch.messages.size() || each == 0 ||
      std::ranges::count(ranks_together_, 0) > 0)
    return false;
  constexpr double rounding = 1e-12;
  const auto [first, last] = std::ranges::minmax(clock_);
  if (last - first > rounding * last) return false;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < each; ++i) {
      const auto &message = batch.messages[rank * each + i], &like = batch.messages[i];
      const auto &folded = batch.given[rank * each + i], &like_folded = batch.given[i];
      if (at_rank(message.from) != rank || message.bytes != like.bytes || message.packed_pieces != like.packed_pieces ||
          message.unpacked_pieces != like.unpacked_pieces || message.unpacked_bytes != like.unpacked_bytes ||
          message.is_all_from_sender != like.is_all_from_sender ||
          message.is_all_for_receiver != like.is_all_for_receiver || folded.level != like_folded.level ||
          folded.messages != like_folded.messages)
        return false;
    }
  return true;
}

void Clocks::run_one_for_all(const FoldedOf& batch) {
  const auto each = batch.messages.size() / clock_.size();
  own_messages_.assign(batch.messages.begin(), batch.messages.begin() + static_cast<std::ptrdiff_t>(each));
  for (auto& message : own_messages_) message.to = message.from;
  run_each({layout_, own_messages_, batch.given.first(each)}, true);
  std::ranges::fill(clock_, clock_.front());
  std::ranges::fill(launched_, launched_.front());
  std::ranges::fill(parts_, parts_.front());
}

template <class PiecesOf>
void Clocks::start_copies(const FoldedOf& batch, PiecesOf pieces_of) {
  if (machine_.copy_call_s == 0) return;
  for (const auto& message : batch.messages) {
    const CopiedPieces copied = pieces_of(message);
    if (copied.pieces == 0 || starts_copies_[at_rank(copied.rank)]) continue;
    starts_copies_[at_rank(copied.rank)] = true;
    spend_on_copies(copied.rank, machine_.copy_call_s);
  }
  for (const auto& message : batch.messages) starts_copies_[at_rank(pieces_of(message).rank)] = false;
}

template <class PiecesOf>
void Clocks::copy(const FoldedOf& batch, PiecesOf pieces_of) {
  start_copies(batch, pieces_of);
  for (const auto& message : batch.messages)
    if (const CopiedPieces copied = pieces_of(message); copied.pieces > 0)
      spend_on_copies(copied.rank, batch(message).messages * copying_seconds(machine_, copied, may_use_datatypes_));
}

void Clocks::run_each(const FoldedOf& batch, bool for_all) {
  if (trace_) trace_->begin_batch(clock_);
  if (copies_cost_) copy(batch, packed);
  finish_.clear();
  arrivals_.clear();
  arrivals_.reserve(batch.messages.size());
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
  if (copies_cost_) copy(batch, unpacked);
}

void Clocks::spend(Rank rank, Seconds seconds, CostPart which, Activity activity) {
  auto& clock = clock_[at_rank(rank)];
  if (trace_) trace_->spend(rank, activity, clock, clock + seconds);
  launched_[at_rank(rank)] = clock += seconds;
  part(parts_[at_rank(rank)], which) += seconds;
}

std::size_t Clocks::count_independent(std::span<const Message> messages) const {
  constexpr std::size_t enough = 4096;
  if (!nodes_are_separate_ || messages.size() <= enough) return messages.size();
  const int node = layout_.node(messages[enough - 1].from);
  const auto end =
      std::ranges::find_if(messages.subspan(enough), [&](const Message& m) { return layout_.node(m.from) != node; });
  return static_cast<std::size_t>(end - messages.begin());
}

void Clocks::launch(const FoldedOf& batch, std::size_t begin, std::size_t count, bool for_all) {
  flights_.clear();
  Rank sender = -1;
  for (const auto& message : batch.messages.subspan(begin, count)) {
    const auto from = at_rank(message.from);
    if (message.from != std::exchange(sender, message.from)) launching_.begin(clock_[from]);
    auto& flight = flights_.emplace_back();
    launching_.next(message, batch(message), flight);
    if (for_all) flight.senders = ranks_together_[flight.level];
    flight.await(clock_[at_rank(message.to)]);
    const auto left_at = launching_.left_at();
    if (trace_) trace_->spend(message.from, Activity::send, launched_[from], left_at, message.to, message.bytes);
    launched_[from] = left_at;
  }
}

void Clocks::take_what_moved() {
  for (std::size_t f = 0; f < flights_.size(); ++f) {
    flights_[f].leave_link(moved_[f].link_until);
    flights_[f].shared_until = moved_[f].shared_until;
  }
  moved_ = moved_.subspan(flights_.size());
}

/// Time until a flight arrives: by its sender (or the late receiver) before, and on the way.
Clocks::Way Clocks::way_of(const Flight& flight) {
  return {flight.was_awaited ? flight.to : flight.from, flight.latency, flight.transfer,
          std::max(0.0, flight.shared_until - flight.unshared_until)};
}

Clocks::Parts Clocks::spent_on(const Way& way) const {
  auto spent = parts_[at_rank(way.from)];
  part(spent, CostPart::latency) += way.latency;
  part(spent, CostPart::transfer) += way.transfer;
  part(spent, CostPart::sharing) += way.sharing;
  return spent;
}

void Clocks::arrive() {
  for (auto& flight : flights_) {
    flight.arrive();
    arrivals_.push_back(arrival_of(flight));
    const auto to = at_rank(flight.to);
    if (flight.arrival < last_arrival_[to]) continue;
    last_arrival_[to] = flight.arrival;
    last_way_[to] = way_of(flight);
  }
}

Seconds Clocks::out(const Flight& flight) const { return out_at(flight, launched_[at_rank(flight.from)]); }

void Clocks::finish_sends() {
  for (auto rest = std::span<const Flight>(flights_); !rest.empty();) {
    const Rank rank = rest.front().from;
    const Flight* last = &rest.front();
    Seconds finish = out(*last);
    std::size_t count = 1;
    for (; count < rest.size() && rest[count].from == rank; ++count)
      if (const auto when = out(rest[count]); when > finish) {
        finish = when;
        last = &rest[count];
      }
    finish_.push_back({rank, finish, spent_on(way_of(*last)), way_of(*last).from});
    rest = rest.subspan(count);
  }
}

void Clocks::finish_receives() {
  const auto receiver = [](const Arrival& a) { return at_rank(a.to); };
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

void Clocks::advance() {
  for (const auto& [r, when, spent, from] : finish_) {
    const auto rank = at_rank(r);
    if (trace_) trace_->finish(r, when, from);
    if (advanced_[rank] && when <= clock_[rank]) continue;
    launched_[rank] = clock_[rank] = when;
    parts_[rank] = spent;
    advanced_[rank] = true;
  }
  for (const auto& finish : finish_) advanced_[at_rank(finish.rank)] = false;
}

}  // namespace commpass
