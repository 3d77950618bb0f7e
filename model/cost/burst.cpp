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
// between nodes that follows another one of its stage, P ranks wait skew·√P for one another.
//
// Batches are run in order of time, each rank on its own (simulation.hpp): messages in flight at the same time share
// rates, whatever their batch.
//
// A stage that the MPI library runs ends later at every rank, by what its call and each of the rank's messages take
// beyond that. All ranks are through with it, and with a batch that stands for several, before any goes on.
#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/cost/batches.hpp"
#include "model/cost/message_copies.hpp"
#include "model/cost/models.hpp"
#include "model/cost/simulation.hpp"
#include "model/cost/staging.hpp"
#include "model/cost/trace.hpp"
#include "model/machine/stand_ins.hpp"

namespace commpass {

namespace {

/// The arguments of evaluate_burst.
struct Priced {
  const Schedule& schedule;
  const Layout& layout;
  const Machine& machine;
  Usage usage;
  const Foldings* foldings;

  FoldedOf stage(std::size_t s) const { return {layout, schedule.stages[s].messages, of_stage(foldings, s)}; }
};

/// The wait of ranks for one another before a batch: skew_s of the machine, where the batch follows another one of its
/// stage.
Seconds skew_seconds(const FoldedOf& batch, const Layout& layout, const Machine& machine) {
  const auto skew_s = machine.operations.skew_s.value_or(0);
  if (skew_s == 0 || batch.messages.empty() || batch.messages.front().batch == 0) return 0;
  const bool leaves_nodes = std::ranges::any_of(
      batch.messages, [&](const Message& message) { return batch(message).level > layout.node_level(); });
  return leaves_nodes ? skew_s * std::sqrt(layout.ranks()) : 0;
}

std::uint32_t times_of(const FoldedOf& batch) {
  return batch.messages.empty() ? 1 : batch(batch.messages.front()).batches;
}

/// A stage that the MPI library runs ends this much later than its messages.
/// @param entered  when each rank entered the stage; it does not leave earlier, however fast the library is
void add_library(const FoldedOf& stage, int number, std::span<const Seconds> entered, const Priced& priced,
                 Simulation& simulation) {
  const auto [key, call_s, each] = library_call(priced.machine.operations, priced.usage);
  if (!call_s)
    throw InputError("profile " + priced.machine.name,
                     std::string("it has no ") + key + ", which the MPI library's collective costs",
                     "calibrate, or use another strategy");
  std::vector<std::int64_t> ends(entered.size());  // of messages, at each rank
  for (const auto& message : stage.messages)
    for (const Rank rank : {message.from, message.to})
      ends[at(rank)] += std::int64_t{stage(message).messages} * stage(message).batches;
  for (Rank rank = 0; rank < std::ssize(ends); ++rank) {
    const auto now = simulation.now()[at(rank)];
    const auto left = std::max(entered[at(rank)], now + *call_s + static_cast<double>(ends[at(rank)]) * each);
    simulation.spend(rank, left - now, CostPart::library, Activity::library, number);
  }
}

/// Runs the stages of a schedule.
class Stages {
 public:
  Stages(const Priced& priced, Simulation& simulation) : priced_(priced), simulation_(simulation) {
    const auto& operations = priced.machine.operations;
    calls_s_ = (priced.usage == Usage::planned ? operations.batch_s : operations.batch_once_s).value_or(0);
  }

  void run() {
    const auto& stages = priced_.schedule.stages;
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const auto& batches = kept_.emplace_back(priced_.stage(s));
      if (stages[s].info.by_library) run_by_library(s, batches);
      else add(s, batches);
    }
    run_waiting();
  }

 private:
  TimedBatch batch_of(std::size_t stage, const FoldedOf& messages) const {
    return {.messages = messages,
            .stage = static_cast<int>(stage),
            // Datatypes are made once, and moved by our requests.
            .may_use_datatypes = priced_.usage == Usage::planned && !priced_.schedule.stages[stage].info.by_library,
            .wait_s = skew_seconds(messages, priced_.layout, priced_.machine),
            .calls_s = calls_s_};
  }

  void add(std::size_t stage, const Batches& batches) {
    for (const auto& messages : batches) {
      auto batch = batch_of(stage, messages);
      const bool is_last = &messages == &*std::prev(batches.end());
      if (const auto times = times_of(messages); times > 1) {
        run_waiting();
        simulation_.run_repeated(batch, times);
        if (is_last) simulation_.end_stage(stage);
        continue;
      }
      batch.ends_stage = is_last;
      waiting_.push_back(batch);
    }
  }

  void run_by_library(std::size_t stage, const Batches& batches) {
    run_waiting();
    const auto entered = simulation_.now();
    for (const auto& messages : batches) waiting_.push_back(batch_of(stage, messages));
    run_waiting();
    add_library(priced_.stage(stage), static_cast<int>(stage), entered, priced_, simulation_);
    simulation_.end_stage(stage);
  }

  void run_waiting() {
    if (!waiting_.empty()) simulation_.run(waiting_);
    waiting_.clear();
  }

  const Priced& priced_;
  Simulation& simulation_;
  Seconds calls_s_ = 0;  // of those that begin and end a batch
  std::deque<Batches> kept_;
  std::vector<TimedBatch> waiting_;  // those that are run together
};

StageCost add_copies(const char* label, Bytes bytes_max, std::span<const Seconds> seconds, int stage,
                     Simulation& simulation) {
  auto cost = stage_of(label, bytes_max);
  const auto before = simulation.latest();
  for (Rank rank = 0; rank < std::ssize(seconds); ++rank)
    simulation.spend(rank, seconds[at(rank)], CostPart::staging, Activity::copy, stage);
  const auto end = simulation.end_of_all();
  cost.seconds = end.when - before;
  cost.parts = end.parts;
  return cost;
}

/// @param counted  the stages without their times
Cost evaluate_stages(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage,
                     std::vector<StageCost> counted, const Foldings* foldings, Trace* trace, const Staging* staging,
                     std::vector<Seconds>* ends) {
  const Priced priced{schedule, layout, machine, usage, foldings};
  TraceRecorder recorder(trace ? schedule.ranks : 0);
  Simulation simulation(schedule.ranks, schedule.stages.size(), layout, machine, trace ? &recorder : nullptr);
  Cost total;
  if (staging) total.stages.push_back(add_copies(to_host_label, staging->sent_max, staging->to_host, -1, simulation));
  auto last = simulation.latest();
  for (Rank rank = 0; rank < schedule.ranks; ++rank)
    if (const auto bytes = schedule.self_bytes[at(rank)]; bytes > 0) simulation.copy_to_itself(rank, bytes);
  Stages(priced, simulation).run();
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto& end = simulation.end_of(s);
    auto cost = std::move(counted[s]);
    cost.seconds = end.when - std::exchange(last, end.when);
    cost.parts = end.parts;
    total.stages.push_back(std::move(cost));
  }
  if (staging)
    total.stages.push_back(add_copies(to_device_label, staging->received_max, staging->to_device,
                                      static_cast<int>(schedule.stages.size()), simulation));
  total.seconds = simulation.latest();  // also without stages: a single rank copies to itself
  if (trace) *trace = recorder.take(total, simulation.now());
  if (ends) *ends = simulation.now();
  return total;
}

/// A machine whose copies no calibration has measured: a lone pair of ranks sends from its caches, but all ranks of a
/// node copy bytes that are in none of them at the rate of its memory. From `cached_bytes_max` to twice as much the
/// time of a byte grows from one to the other.
/// @param bytes_max  that a rank sends in a stage
Machine with_copies_from_memory(const Machine& machine, Bytes bytes_max) {
  const double beyond_caches = static_cast<double>(bytes_max) / static_cast<double>(cached_bytes_max) - 1;
  const double cached_s = 1 / machine.copy_rate_bytes_per_s, memory_s = 1 / typical_memory_copy_rate_bytes_per_s;
  auto result = machine;
  result.copy_rate_bytes_per_s = 1 / std::lerp(cached_s, std::max(cached_s, memory_s), std::min(beyond_caches, 1.0));
  return result;
}

/// Are the copies of exchanges known, or moved by kernels on a device, or free?
bool are_copies_known(const Machine& machine) {
  return machine.verdict || machine.copy_call_s > 0 || !copies_cost(machine);
}

}  // namespace

Cost evaluate_burst(const Schedule& schedule, const Layout& layout, const Machine& machine, Usage usage,
                    const Foldings* foldings, Trace* trace, const Staging* staging, std::vector<Seconds>* ends) {
  std::vector<StageCost> counted;
  Bytes bytes_max = 0;
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    counted.push_back(count_messages(schedule.stages[s], of_stage(foldings, s)));
    bytes_max = std::max(bytes_max, counted.back().bytes_max);
  }
  if (bytes_max <= cached_bytes_max || are_copies_known(machine))
    return evaluate_stages(schedule, layout, machine, usage, std::move(counted), foldings, trace, staging, ends);
  return evaluate_stages(schedule, layout, with_copies_from_memory(machine, bytes_max), usage, std::move(counted),
                         foldings, trace, staging, ends);
}

}  // namespace commpass
