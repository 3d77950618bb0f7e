// tuna-node: hierarchical TuNA. Within the node by the base-R digits of the distance to the destination's local rank,
// one round at a time, then across the network.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/route/catalogue.hpp"

namespace commpass {

namespace {
namespace tuna_node {

// On uneven nodes distances are modulo the ppn of the source's node, on which the block stays until the last stage. A
// destination whose local rank this node does not have is sent to by the rank with that number modulo ppn.
class NodeDistanceRoute final : public Route {
 public:
  NodeDistanceRoute(const Layout& layout, int radix) : layout_(layout), radix_(radix) {
    for (std::int64_t weight = 1; weight < layout.max_ppn(); weight *= radix) {
      const auto rounds = std::min<std::int64_t>(radix - 1, (layout.max_ppn() - 1) / weight);
      weights_.push_back(weight);
      stages_.push_back({.label = fmt::format("local distance digit {}", weights_.size()),
                         .rounds = static_cast<int>(rounds),
                         .one_by_one = true});
    }
    if (layout.nodes() > 1) stages_.push_back({.label = "node digit", .rounds = layout.nodes() - 1});
  }

  const std::vector<StageInfo>& stages() const override { return stages_; }

  Rank next(const Block& block, Rank at, int stage) const override {
    if (is_node_digit(stage)) return block.destination;
    const auto weight = weights_[static_cast<std::size_t>(stage)];
    const auto digit = local_distance(block.source, block.destination) / weight % radix_;
    const auto mates = layout_.ranks_of(layout_.node(at));
    return mates[static_cast<std::size_t>(layout_.local(at) + digit * weight) % mates.size()];
  }

  void next_of_each(std::span<const Block> blocks, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override {
    for (std::size_t i = 0; i < blocks.size(); ++i) to[i] = next(blocks[i], at[i], stage);
  }

  // How far a stage takes a block depends on a distance within a node alone: no division for each block.
  bool next_of_ends(std::span<const BlockEnds> ends, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override {
    if (ends.size() < static_cast<std::size_t>(layout_.ranks())) return false;
    if (is_node_digit(stage)) {
      std::ranges::transform(ends, to.begin(), &BlockEnds::destination);
      return true;
    }
    const auto weight = weights_[static_cast<std::size_t>(stage)];
    std::vector<int> step(static_cast<std::size_t>(layout_.max_ppn()));
    for (std::size_t d = 0; d < step.size(); ++d)
      step[d] = static_cast<int>(static_cast<std::int64_t>(d) / weight % radix_ * weight);
    struct Place {
      const Rank* mates;
      int local, ppn;
    };
    std::vector<Place> places;
    for (Rank rank = 0; rank < layout_.ranks(); ++rank) {
      const auto mates = layout_.ranks_of(layout_.node(rank));
      places.push_back({mates.data(), layout_.local(rank), static_cast<int>(mates.size())});
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const auto &source = places[static_cast<std::size_t>(ends[i].source)],
                 &holder = places[static_cast<std::size_t>(at[i])];
      const int local = places[static_cast<std::size_t>(ends[i].destination)].local;
      const int distance = (local < source.ppn ? local : local % source.ppn) - source.local;
      const int next = holder.local + step[static_cast<std::size_t>(distance < 0 ? distance + source.ppn : distance)];
      to[i] = holder.mates[next < source.ppn ? next : next - source.ppn];
    }
    return true;
  }

  int round(Rank from, Rank to, int stage) const override {
    if (is_node_digit(stage)) return (layout_.node(to) - layout_.node(from) + layout_.nodes()) % layout_.nodes();
    return static_cast<int>(local_distance(from, to) / weights_[static_cast<std::size_t>(stage)]);
  }

  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override {
    return is_node_digit(stage) ? uniform_node_runs(rank) : uniform_local_runs(rank, stage);
  }

 private:
  bool is_node_digit(int stage) const { return stage == static_cast<int>(weights_.size()); }

  /// From the local rank of `from` to that of `to`, around the node of `from`.
  int local_distance(Rank from, Rank to) const {
    const int ppn = layout_.ppn(layout_.node(from));
    return (layout_.local(to) % ppn - layout_.local(from) + ppn) % ppn;
  }

  // As in DistanceRoute, with a block for every node in place of one.
  std::vector<UniformRun> uniform_local_runs(Rank rank, int stage) const {
    const auto weight = weights_[static_cast<std::size_t>(stage)];
    const auto mates = layout_.ranks_of(layout_.node(rank));
    const auto ppn = static_cast<std::int64_t>(mates.size());
    const std::int64_t nodes = layout_.nodes(), origins = 1 + std::int64_t{stage} * (radix_ - 1);
    std::vector<UniformRun> runs;
    for (std::int64_t z = 1; z < radix_ && z * weight < ppn; ++z) {
      std::int64_t blocks = 0, locals = 0;
      for (auto first = z * weight; first < ppn; first += weight * radix_) {
        blocks += std::min(weight, ppn - first);
        ++locals;
      }
      const auto to = mates[static_cast<std::size_t>(layout_.local(rank) + z * weight) % mates.size()];
      const auto finals = std::min(weight, ppn - z * weight);
      const bool lands = finals == blocks * nodes;
      runs.push_back(UniformMessage{to, blocks * nodes, std::min(blocks, locals * origins) * nodes, lands ? 0 : finals,
                                    lands ? 0 : 1});
    }
    return runs;
  }

  // To one rank of every other node, which gets the blocks of this node's ranks side by side.
  std::vector<UniformRun> uniform_node_runs(Rank rank) const {
    const int node = layout_.node(rank), ppn = layout_.ppn(node);
    const auto origins = 1 + static_cast<std::int64_t>(weights_.size()) * (radix_ - 1);
    UniformMessage message{0, ppn, std::min<std::int64_t>(ppn, origins), 0, 0};
    if (layout_.is_regular()) {
      const Ring ring{layout_.local(rank), layout_.ranks(), ppn};
      message.to = ring.after(rank, 1);
      return {{message, layout_.nodes() - 1, ring}};
    }
    std::vector<UniformRun> runs;
    for (int other = 0; other < layout_.nodes(); ++other) {
      if (other == node) continue;
      for (int local = layout_.local(rank); local < layout_.ppn(other); local += ppn) {
        message.to = layout_.ranks_of(other)[static_cast<std::size_t>(local)];
        runs.push_back(message);
      }
    }
    return runs;
  }

  Layout layout_;
  int radix_;
  std::vector<StageInfo> stages_;
  std::vector<std::int64_t> weights_;  // rˣ by local stage
};

std::string malformed(const Strategy& strategy) { return strategy.arguments.empty() ? "it needs a radix" : ""; }

std::string inapplicable(const Strategy& strategy, const Layout& layout) {
  const auto radix = strategy.values("radix")[0];
  return radix <= layout.max_ppn()
             ? ""
             : fmt::format("radix {} is larger than the {} ranks of a node", radix, layout.max_ppn());
}

std::unique_ptr<Route> make(const Strategy& strategy, const Layout& layout, const PatternTables&) {
  return std::make_unique<NodeDistanceRoute>(layout, static_cast<int>(strategy.values("radix")[0]));
}

std::vector<Strategy> suggest(const Layout& layout) {
  const int ppn = layout.max_ppn();
  if (layout.nodes() == 1 || ppn == 1) return {};  // the same as tuna, or as standard
  constexpr int block_count = 8;                   // below 8 rounds in flight latencies no longer overlap
  std::vector<Strategy> strategies;
  for (const int radix : std::set{2, std::max(2, static_cast<int>(std::lround(std::sqrt(ppn)))), ppn}) {
    const std::vector<Argument> arguments{{"radix", {radix}}};
    strategies.push_back({"tuna-node", arguments, {}});
    if (layout.nodes() - 1 > block_count) strategies.push_back({"tuna-node", arguments, {block_count}});
    strategies.push_back({"tuna-node", arguments, {block_count}, Coalescing::staggered});
  }
  return strategies;
}

}  // namespace tuna_node
}  // namespace

CatalogueRow tuna_node_row() {
  using namespace tuna_node;
  return {.name = "tuna-node",
          .usage = "tuna-node,radix=R[,window=W][,staggered]",
          .summary =
              "within the node by the base-R digits of the distance to the destination's local rank, one round at a "
              "time, then to "
              "the destination's node (window and staggered are for this part)",
          .source = "TuNA paper (Fan, Domke, Ba, Kumar) §IV, algorithms 2 and 3",
          .parameters = {{"radix", Parameter::Kind::integer, 2,
                          "the base of the digits, 2 to the ranks of a node, or 'auto': the cheapest", true}},
          .default_window = {},
          .malformed = malformed,
          .inapplicable = inapplicable,
          .make = make,
          .suggest = suggest,
          .vary = [](const Strategy& strategy, const Layout& layout) {
            return vary_argument(strategy, "radix", 2, layout.max_ppn());
          }};
}

}  // namespace commpass
