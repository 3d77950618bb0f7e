#include "selector/sparse_choice.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "model/catalogue.hpp"
#include "model/cost.hpp"
#include "model/error.hpp"

namespace commpass {

namespace {

/// What travels with a block where its message holds several: source, destination, size.
constexpr double header_bytes = 16;

/// (1 − 1/k)^n without a library's pow, which need not be the same on all ranks.
double power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

int rounds_for(int ranks) {
  int rounds = 0;
  for (std::int64_t reached = 1; reached < ranks; reached *= 2) ++rounds;
  return rounds;
}

}  // namespace

SparseStatistics statistics_of(Rank rank, std::span<const Rank> destinations, std::span<const Bytes> bytes, const Layout& layout) {
  SparseStatistics own;
  std::vector<int> nodes;
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    if (destinations[i] == rank) continue;
    ++own.messages;
    own.bytes += bytes[i];
    if (const int node = layout.node(destinations[i]); node != layout.node(rank)) nodes.push_back(node);
  }
  own.network_messages = std::ssize(nodes);
  std::ranges::sort(nodes);
  own.nodes_reached = std::unique(nodes.begin(), nodes.end()) - nodes.begin();
  own.messages_max = own.messages;
  own.bytes_max = own.bytes;
  own.network_messages_max = own.network_messages;
  own.nodes_reached_max = own.nodes_reached;
  return own;
}

SparseStatistics statistics_of(const Pattern& pattern, const Layout& layout) {
  const auto ranks = static_cast<std::size_t>(pattern.ranks);
  std::vector<std::vector<Rank>> destinations(ranks);
  std::vector<std::vector<Bytes>> sizes(ranks);
  std::vector<std::int64_t> received(ranks), received_bytes(ranks);
  for (const auto& edge : pattern.edges) {
    destinations[static_cast<std::size_t>(edge.source)].push_back(edge.destination);
    sizes[static_cast<std::size_t>(edge.source)].push_back(edge.bytes);
    if (edge.source == edge.destination) continue;
    ++received[static_cast<std::size_t>(edge.destination)];
    received_bytes[static_cast<std::size_t>(edge.destination)] += edge.bytes;
  }
  SparseStatistics all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto own = statistics_of(static_cast<Rank>(rank), destinations[rank], sizes[rank], layout);
    all.messages += own.messages;
    all.bytes += own.bytes;
    all.network_messages += own.network_messages;
    all.nodes_reached += own.nodes_reached;
    all.messages_max = std::max(all.messages_max, own.messages_max);
    all.bytes_max = std::max(all.bytes_max, own.bytes_max);
    all.network_messages_max = std::max(all.network_messages_max, own.network_messages_max);
    all.nodes_reached_max = std::max(all.nodes_reached_max, own.nodes_reached_max);
    all.received_messages_max = std::max(all.received_messages_max, received[rank]);
    all.received_bytes_max = std::max(all.received_bytes_max, received_bytes[rank]);
  }
  return all;
}

SparseStatistics expected_statistics(double messages, double bytes, const Layout& layout) {
  const double ranks = layout.ranks(), others = std::max(1.0, ranks - 1);
  const double sent = std::clamp(messages, 0.0, others);
  const double network = sent * (ranks - layout.max_ppn()) / others;
  const double nodes = layout.nodes() - 1, missed = nodes > 0 ? power(1 - 1 / nodes, static_cast<std::int64_t>(network)) : 0;
  const auto whole = [](double value) { return static_cast<std::int64_t>(value + 0.5); };
  SparseStatistics all;
  all.messages_max = all.received_messages_max = whole(sent);
  all.bytes_max = all.received_bytes_max = whole(sent * bytes);
  all.network_messages_max = whole(network);
  all.nodes_reached_max = whole(nodes * (1 - missed));
  all.messages = all.messages_max * layout.ranks();
  all.bytes = all.bytes_max * layout.ranks();
  all.network_messages = all.network_messages_max * layout.ranks();
  all.nodes_reached = all.nodes_reached_max * layout.ranks();
  return all;
}

/// What the busiest rank of a stage sends and gets.
struct SparseChoice::Load {
  double sent = 0, sent_near = 0, sent_bytes = 0;  ///< messages, those of them within the node, bytes of all
  double received = 0, received_bytes = 0;
  double node_bytes = 0;                           ///< that a node injects into the network
};

SparseChoice::SparseChoice(const Layout& layout, const Machine& machine, bool constant_size)
    : ranks_(layout.ranks()), ppn_(layout.max_ppn()), machine_(machine) {
  require_parameters(layout, machine);
  for (const auto& strategy : suggest_sparse_strategies(layout, constant_size)) {
    auto& shape = shapes_.emplace_back(Shape{strategy, {}});
    if (shapes_.size() > 1 && shapes_[shapes_.size() - 2].strategy.route == strategy.route) {
      shape.stages = shapes_[shapes_.size() - 2].stages;
      continue;
    }
    if (strategy.is_direct()) {
      if (layout.ranks() == 1) continue;
      const auto farthest = layout.nodes() > 1 ? Locality::network : layout.sockets() > 1 ? Locality::node : Locality::socket;
      shape.stages.push_back({layout.ranks(), layout.nodes(), layout.ranks() - 1, farthest});
      continue;
    }
    const auto route = make_route(strategy.route, layout);
    for (int s = 0; s < static_cast<int>(route->stages().size()); ++s) {
      const auto lowest = route->groups(s);
      std::vector<int> size(lowest.size(), 0);
      StageShape stage;
      for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        const Rank first = lowest[static_cast<std::size_t>(rank)];
        stage.ranks = std::max(stage.ranks, ++size[static_cast<std::size_t>(first)]);
        if (first != rank) stage.locality = std::max(stage.locality, layout.locality(first, rank));
      }
      std::set<int> nodes;
      for (Rank rank = 0; rank < layout.ranks(); ++rank)
        if (lowest[static_cast<std::size_t>(rank)] == 0) nodes.insert(layout.node(rank));
      stage.nodes = std::max(1, static_cast<int>(nodes.size()));
      stage.peers = route->stages()[static_cast<std::size_t>(s)].rounds;
      shape.stages.push_back(stage);
    }
  }
}

const Protocol& SparseChoice::protocol(Locality locality, double bytes) const { return machine_.host.find(locality)->protocol(static_cast<Bytes>(bytes)); }

Seconds SparseChoice::reduction_seconds(const StageShape& stage, double bytes) const {
  // Recursive doubling, within nodes first.
  const int on_node = std::max(1, stage.ranks / stage.nodes);
  const auto round = [&](Locality locality) {
    const auto& used = protocol(locality, bytes);
    return used.alpha_s + used.beta_s_per_byte * bytes;
  };
  Seconds seconds = 0;
  if (on_node > 1) seconds += rounds_for(on_node) * round(std::min(stage.locality, Locality::node));
  if (stage.nodes > 1) seconds += rounds_for(stage.nodes) * round(Locality::network);
  return seconds;
}

Seconds SparseChoice::stage_seconds(Discovery discovery, const StageShape& stage, const Load& load) const {
  const Locality near = std::min(stage.locality, Locality::node);
  const double bytes_each = load.sent > 0 ? load.sent_bytes / load.sent : 0, got_each = load.received > 0 ? load.received_bytes / load.received : 0;
  const auto& far_protocol = protocol(stage.locality, bytes_each);
  const auto& near_protocol = protocol(near, bytes_each);
  const auto step = [&](const Protocol& used) { return used.alpha_next_s + used.beta_next_s_per_byte.value_or(used.beta_s_per_byte) * bytes_each; };
  const double sent_far = load.sent - load.sent_near;
  const Seconds latency = load.sent > 0 ? (sent_far > 0 ? far_protocol : near_protocol).alpha_s : 0;
  const Seconds sending = latency + sent_far * step(far_protocol) + load.sent_near * step(near_protocol);
  const Seconds probe = machine_.operations.probe_s.value_or(0);
  const auto& got_protocol = protocol(stage.locality, got_each);
  const Seconds taking = load.received * got_protocol.receive_seconds(static_cast<Bytes>(got_each));
  const Seconds injecting = stage.locality == Locality::network ? load.node_bytes / machine_.injection_rate_bytes_per_s : 0;
  const Seconds moving = std::max({sending, latency + taking, injecting});
  const Seconds probed = std::max({sending, latency + taking + load.received * probe, injecting});
  constexpr double number = 8;
  const double tally = number * static_cast<double>(1 + SparseStatistics::sum_count + SparseStatistics::maximum_count);
  switch (discovery) {
    // A synchronous send ends when its receiver has answered.
    case Discovery::nbx: return probed + latency + reduction_seconds(stage, tally);
    // A reduce-scatter sends half of the numbers, then a quarter of them, and so on.
    case Discovery::reduce: return probed + reduction_seconds(stage, number * stage.ranks / std::max(1, rounds_for(stage.ranks)));
    case Discovery::allreduce: return probed + reduction_seconds(stage, 2 * number * stage.ranks);
    case Discovery::rma: {
      const Seconds put = machine_.operations.put_s.value_or(far_protocol.alpha_s);
      return latency + load.sent * std::max(put, step(far_protocol)) + reduction_seconds(stage, tally) + stage.ranks * machine_.copy_block_s;
    }
    case Discovery::dense: {
      const auto& sizes = protocol(stage.locality, 2 * number);
      return sizes.alpha_s + stage.peers * (sizes.alpha_next_s + sizes.receive_seconds(static_cast<Bytes>(2 * number))) + moving;
    }
  }
  return 0;
}

Seconds SparseChoice::price(const Shape& shape, const SparseStatistics& s) const {
  const auto count = [](std::int64_t number) { return static_cast<double>(number); };
  const double mean_messages = count(s.messages) / ranks_, mean_bytes = count(s.bytes) / ranks_;
  const double size = s.messages > 0 ? count(s.bytes) / count(s.messages) : 0;
  // The largest receiver was not counted where only sends are known.
  const double received = std::max(count(s.received_messages_max), mean_messages), received_bytes = std::max(count(s.received_bytes_max), mean_bytes);
  const double network_share = s.messages > 0 ? count(s.network_messages) / count(s.messages) : 0;
  Seconds seconds = 0;
  if (shape.strategy.is_direct()) {
    for (const auto& stage : shape.stages)
      seconds += stage_seconds(shape.strategy.discovery, stage,
                               {count(s.messages_max), count(s.messages_max - s.network_messages_max), count(s.bytes_max), received, received_bytes, ppn_ * mean_bytes * network_share});
    return seconds;
  }
  const bool by_node = shape.stages.size() == 2 && shape.stages[1].locality < Locality::network && shape.stages[0].locality == Locality::network;
  const std::size_t last = shape.stages.size() - 1;
  for (std::size_t i = 0; i < shape.stages.size(); ++i) {
    const auto& stage = shape.stages[i];
    const double k = stage.peers + 1;
    // Blocks that a rank holds: its own at first, those for it at last, the mean between.
    const double held = i == 0 ? count(s.messages_max) : mean_messages, coming = i == last ? received : mean_messages;
    const auto peers_of = [&](double blocks) { return stage.peers * (1 - power(1 - 1 / k, static_cast<std::int64_t>(blocks + 0.5))); };
    Load load;
    double moved = held * (1 - 1 / k), moved_in = coming * (1 - 1 / k);  // one in k is where it has to be already
    load.sent = peers_of(held);
    load.received = peers_of(coming);
    if (by_node && i == 0) {
      // What goes to other nodes is known; ranks of one's own node wait.
      load.sent = count(s.nodes_reached_max);
      load.received = count(s.nodes_reached) / ranks_;
      moved = count(s.network_messages_max);
      moved_in = mean_messages * network_share;
    }
    load.sent_bytes = moved * (size + header_bytes);
    load.received_bytes = moved_in * (size + header_bytes);
    if (stage.locality == Locality::network) load.node_bytes = ppn_ * mean_messages * (by_node ? network_share : 1 - 1 / k) * (size + header_bytes);
    seconds += stage_seconds(shape.strategy.discovery, stage, load);
    // Blocks are packed before and taken apart after a stage.
    const auto copied = 2 * (moved * (size + header_bytes)) / machine_.copy_rate_bytes_per_s + 2 * moved * machine_.copy_block_s;
    seconds += copied;
  }
  return seconds;
}

std::vector<SparseCandidate> SparseChoice::rank(const SparseStatistics& statistics) const {
  std::vector<SparseCandidate> ranking;
  for (const auto& shape : shapes_) ranking.push_back({shape.strategy, price(shape, statistics)});
  std::ranges::stable_sort(ranking, {}, &SparseCandidate::seconds);
  return ranking;
}

SparseCandidate SparseChoice::best(const SparseStatistics& statistics) const { return rank(statistics).front(); }

}  // namespace commpass
