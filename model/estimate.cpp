// Closed form of an all-to-all with equal blocks: one node stands for all, and every batch costs what its most
// expensive rank pays. The terms are those of cost_bulk.cpp and cost_burst.cpp.
#include <algorithm>
#include <map>

#include "model/cost.hpp"

namespace commpass {

namespace {

/// What a rank sends in one batch, summed up.
struct Sent {
  Seconds latency_first = 0;  // max (α − α_next)
  Seconds latency_next = 0;   // Σ α_next
  Seconds latency_all = 0;    // Σ α
  Seconds transfer = 0;       // Σ β·s
  Seconds copying = 0;
  std::array<std::int64_t, locality_count> messages{};
  std::array<Bytes, locality_count> bytes{};
};

class AlltoallEstimator {
 public:
  AlltoallEstimator(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model)
      : bytes_(bytes), layout_(layout), machine_(machine), model_(model) {}

  StageCost stage(const Route& route, int number, Window window) const {
    StageCost cost;
    cost.label = route.stages()[static_cast<std::size_t>(number)].label;
    // The largest node stands for all; its ranks share what a node shares.
    int node = 0;
    for (int n = 1; n < layout_.nodes(); ++n)
      if (layout_.ppn(n) > layout_.ppn(node)) node = n;

    std::map<int, std::vector<Sent>> batches;
    for (const Rank rank : layout_.ranks_of(node)) {
      const auto messages = route.uniform_messages(rank, number);
      std::map<int, Sent> own;
      Bytes total = 0;
      for (const auto& message : messages) {
        const int batch = model_ == CostModel::burst ? window.batch(route.round(rank, message.to, number)) : 0;
        add(own[batch], rank, message);
        total += message.blocks * bytes_;
      }
      cost.messages_max = std::max(cost.messages_max, static_cast<std::int64_t>(messages.size()));
      cost.bytes_max = std::max(cost.bytes_max, total);
      for (auto& [batch, sent] : own) batches[batch].push_back(sent);
    }
    for (const auto& [batch, sent] : batches) add_batch(cost, sent);
    return cost;
  }

 private:
  void add(Sent& sent, Rank rank, const UniformMessage& message) const {
    const auto locality = layout_.locality(rank, message.to);
    const Bytes size = message.blocks * bytes_;
    const auto& protocol = machine_.host.find(locality)->protocol(size);
    sent.latency_first = std::max(sent.latency_first, protocol.alpha_s - protocol.alpha_next_s);
    sent.latency_next += protocol.alpha_next_s;
    sent.latency_all += protocol.alpha_s;
    sent.transfer += protocol.beta_s_per_byte * static_cast<double>(size);
    ++sent.messages[static_cast<std::size_t>(locality)];
    sent.bytes[static_cast<std::size_t>(locality)] += size;
    const auto copy = [&](Bytes bytes, std::int64_t pieces) {
      sent.copying += static_cast<double>(bytes) / machine_.copy_rate_bytes_per_s + static_cast<double>(pieces) * machine_.copy_block_s;
    };
    if (message.pieces > 1) copy(size, message.pieces);
    if (message.final_pieces > 0) copy(message.final_blocks * bytes_, message.final_pieces);
  }

  /// Adds the rank that pays most for a batch.
  void add_batch(StageCost& cost, const std::vector<Sent>& ranks) const {
    std::array<Bytes, locality_count> node_bytes{};
    for (const auto& sent : ranks)
      for (std::size_t l = 0; l < node_bytes.size(); ++l) node_bytes[l] += sent.bytes[l];

    Seconds most = 0;
    std::array<Seconds, cost_part_count> most_parts{};
    for (const auto& sent : ranks) {
      const bool burst = model_ == CostModel::burst;
      const Seconds latency = burst ? sent.latency_first + sent.latency_next : sent.latency_all;
      const Seconds shared = model_ == CostModel::postal ? 0 : shared_seconds(sent, node_bytes, burst);
      const Seconds sharing = std::max(0.0, shared - sent.transfer);
      Seconds receiving = 0;
      for (std::size_t l = 0; burst && l < sent.messages.size(); ++l) {
        const auto posted = static_cast<double>(sent.messages[l]);
        if (posted > 0) receiving += machine_.host.find(static_cast<Locality>(l))->gamma_s * posted * posted / 2;
      }
      const Seconds copying = burst ? sent.copying : 0;
      const Seconds seconds = latency + sent.transfer + sharing + receiving + copying;
      if (seconds > most) {
        most = seconds;
        most_parts = {latency, sent.transfer, sharing, receiving, copying};
      }
    }
    cost.seconds += most;
    for (std::size_t p = 0; p < most_parts.size(); ++p) cost.parts[p] += most_parts[p];
  }

  /// How long what the rank shares is busy with the bytes of its node.
  Seconds shared_seconds(const Sent& sent, const std::array<Bytes, locality_count>& node_bytes, bool burst) const {
    Seconds shared = 0;
    const auto use = [&](Locality locality, double bytes, double rate) {
      if (sent.messages[static_cast<std::size_t>(locality)] > 0) shared = std::max(shared, bytes / rate);
    };
    const auto total = [&](Locality locality) { return static_cast<double>(node_bytes[static_cast<std::size_t>(locality)]); };
    use(Locality::network, total(Locality::network), machine_.injection_rate_bytes_per_s);
    if (!burst) return shared;
    use(Locality::network, total(Locality::network), machine_.ejection_rate_bytes_per_s);
    const double sockets_per_node = static_cast<double>(layout_.sockets()) / layout_.nodes();
    const auto aggregate = [&](Locality locality) {
      const auto* channel = machine_.host.find(locality);
      return channel ? channel->aggregate_rate_bytes_per_s : std::numeric_limits<double>::infinity();
    };
    use(Locality::network, total(Locality::network), aggregate(Locality::network));
    use(Locality::node, total(Locality::node), aggregate(Locality::node));
    use(Locality::socket, total(Locality::socket) / sockets_per_node, aggregate(Locality::socket));
    return shared;
  }

  Bytes bytes_;
  const Layout& layout_;
  const Machine& machine_;
  CostModel model_;
};

}  // namespace

Cost estimate_alltoall(Bytes bytes, const Route& route, Window window, const Layout& layout, const Machine& machine, CostModel model) {
  require_parameters(layout, machine);
  const AlltoallEstimator estimator(bytes, layout, machine, model);
  Cost total;
  for (int stage = 0; bytes > 0 && stage < static_cast<int>(route.stages().size()); ++stage) {
    total.stages.push_back(estimator.stage(route, stage, window));
    total.seconds += total.stages.back().seconds;
  }
  return total;
}

}  // namespace commpass
