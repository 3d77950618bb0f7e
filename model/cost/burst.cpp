// The burst model: every rank has a clock, and the cost is the last clock.
//
// Batch by batch (all of one stage if the window is unlimited), for the k-th message of a rank's batch:
//   launch   L_k = start + Σ_{i<k} (α_next,i + β_next,i·s_i) + α_next,k   messages leave their sender one after another
//   begin    B_k = L_k + (β_k − β)·s_k, with the least β of the channel: what a slower protocol takes longer is time
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
// Before each batch every rank is busy with the calls that begin and end it, if these were measured. Before each batch
// between nodes that follows another one of its stage, ranks of N nodes wait skew·√N for one another.
//
// Servers are asked batch by batch. Where that misses much, since some ranks are in their next batch already, all
// batches are run in order of time first (overlap.hpp), and then again as above with what servers did there.
//
// A stage that the MPI library runs ends later at every rank, by what its call and each of the rank's messages take
// beyond that.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "model/cost/batches.hpp"
#include "model/cost/clocks.hpp"
#include "model/cost/models.hpp"
#include "model/cost/overlap.hpp"
#include "model/cost/staging.hpp"
#include "model/cost/trace.hpp"

namespace commpass {

namespace {

StageCost add_copies(const char* label, Bytes bytes_max, std::span<const Seconds> seconds, Clocks& clocks) {
  auto cost = stage_of(label, bytes_max);
  const auto before = clocks.latest();
  clocks.stage(seconds);
  cost.seconds = clocks.latest() - before;
  cost.parts = clocks.take_parts();
  return cost;
}

/// The arguments of evaluate_burst.
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
    if (const auto bytes = priced.schedule.self_bytes[static_cast<std::size_t>(rank)]; bytes > 0)
      clocks.copy_to_itself(rank, bytes);
}

/// Batch by batch.
/// @param moved  known times of each message; empty: none
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

/// Do batches overlap so much that their order matters, and is it affordable to run them in order of time?
bool is_worth_ordering(const Priced& priced, const Clocks& clocks) {
  constexpr double overlap_ratio_min = 0.005;            // of the price
  constexpr std::size_t ordered_messages_max = 500'000;  // at 0.3 to 0.5 us each, 0.2 s
  if (clocks.overlap() <= overlap_ratio_min * clocks.latest()) return false;
  std::size_t messages = 0;
  for (std::size_t s = 0; s < priced.schedule.stages.size(); ++s) {
    const auto& stage = priced.schedule.stages[s];
    if (stage.info.by_library) return false;
    if (std::ranges::any_of(of_stage(priced.foldings, s), [](const Folded& f) { return f.batches > 1; })) return false;
    messages += stage.messages.size();
  }
  return messages <= ordered_messages_max;
}

std::vector<Moved> move_in_order_of_time(const Priced& priced) {
  Clocks clocks(priced.schedule, priced.layout, priced.machine, priced.usage, nullptr);
  TraceRecorder no_trace;
  Cost copies;
  begin_exchange(priced, clocks, no_trace, copies);
  const auto calls_s = batch_calls_s(priced.machine, priced.usage);
  std::vector<Batches> stages;
  std::vector<TimedBatch> batches;
  for (std::size_t s = 0; s < priced.schedule.stages.size(); ++s) {
    const bool datatypes = may_use_datatypes(priced.schedule.stages[s].info, priced.usage);
    for (const auto& batch : stages.emplace_back(priced.stage(s))) {
      const auto skew_s = follows_another(batch) ? skew_seconds(batch, priced.layout, priced.machine) : 0;
      batches.push_back({batch, datatypes, calls_s + skew_s});
    }
  }
  return move_overlapping(batches, clocks.now(), priced.layout, priced.machine);
}

}  // namespace

Cost evaluate_burst(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage,
                    const Foldings* foldings, Trace* trace, const Staging* staging, Overlaps overlaps) {
  const Priced priced{schedule, layout, machine, usage, foldings, staging};
  std::vector<Moved> moved;
  {
    Clocks clocks(schedule, layout, machine, usage, nullptr);
    TraceRecorder no_trace;
    auto total = run_all(priced, clocks, no_trace);
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
