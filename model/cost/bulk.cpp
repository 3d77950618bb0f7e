// The papers' models: every stage costs what its most expensive rank pays for the messages it sends, and stages add up.
// Sources: the postal model; max-rate after Gropp, Olson and Samfass, as node-aware paper eq. 2.1 and 2.2.
#include <algorithm>
#include <numeric>

#include "model/cost/models.hpp"
#include "model/cost/staging.hpp"

namespace commpass {

namespace {

struct RankCost {
  Seconds latency = 0;   // Σ α
  Seconds transfer = 0;  // Σ β·s
  bool injects = false;
};

/// The rank that copies for longest counts.
void add_copies(const char* label, Bytes bytes_max, std::span<const Seconds> seconds, Cost& total) {
  auto stage = stage_of(label, bytes_max);
  for (const auto own : seconds) stage.seconds = std::max(stage.seconds, own);
  stage.parts[static_cast<std::size_t>(CostPart::staging)] = stage.seconds;
  total.seconds += stage.seconds;
  total.stages.push_back(std::move(stage));
}

}  // namespace

Cost evaluate_bulk(const Schedule& schedule, const Layout& layout, const Machine& machine, bool max_rate,
                   const Foldings* foldings, const Staging* staging, std::vector<Seconds>* ends) {
  Cost total;
  if (ends) ends->assign(static_cast<std::size_t>(schedule.ranks), 0);
  if (staging) add_copies(to_host_label, staging->sent_max, staging->to_host, total);
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    const auto& stage = schedule.stages[s];
    const FoldedOf folded_of{layout, stage.messages, of_stage(foldings, s)};
    auto cost = count_messages(stage, folded_of.given);
    std::vector<RankCost> ranks(static_cast<std::size_t>(schedule.ranks));
    std::vector<Bytes> injected(static_cast<std::size_t>(layout.nodes()));
    for (const auto& message : stage.messages) {
      const auto folded = folded_of(message);
      const auto messages = std::int64_t{folded.messages} * folded.batches;
      const auto& protocol = host_channel(machine, folded.level).protocol(message.bytes);
      auto& rank = ranks[static_cast<std::size_t>(message.from)];
      const auto bytes = message.bytes * messages;
      rank.latency += protocol.alpha_s * static_cast<double>(messages);
      rank.transfer += protocol.beta_s_per_byte * static_cast<double>(bytes);
      if (folded.level > layout.node_level()) {
        rank.injects = true;
        injected[static_cast<std::size_t>(layout.node(message.from))] += bytes;
      }
    }
    for (Rank r = 0; r < schedule.ranks; ++r) {
      const auto& rank = ranks[static_cast<std::size_t>(r)];
      Seconds sharing = 0;
      if (max_rate && rank.injects) {
        const auto node_bytes = static_cast<double>(injected[static_cast<std::size_t>(layout.node(r))]);
        sharing = std::max(0.0, node_bytes / machine.levels[layout.node_level()].up_rate_bytes_per_s - rank.transfer);
      }
      const Seconds seconds = rank.latency + rank.transfer + sharing;
      if (ends) (*ends)[static_cast<std::size_t>(r)] += seconds;
      if (seconds > cost.seconds) {
        cost.seconds = seconds;
        cost.parts = {rank.latency, rank.transfer, sharing, 0, 0};
      }
    }
    total.seconds += cost.seconds;
    total.stages.push_back(std::move(cost));
  }
  if (staging) add_copies(to_device_label, staging->received_max, staging->to_device, total);
  return total;
}

}  // namespace commpass
