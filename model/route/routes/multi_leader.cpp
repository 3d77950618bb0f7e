// multi-leader: the ranks of a node gather their blocks on some of them, which exchange these and hand them out.
// Node-aware, a leader sends one message to each node, whose leaders then give each other their ranks' blocks.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "model/route/catalogue.hpp"

namespace commpass {

namespace {
namespace multi_leader {

/// Each node is divided into as many groups of adjacent local ranks as it has leaders; the first of a group leads it.
class LeaderRoute final : public Route {
 public:
  LeaderRoute(const Layout& layout, int leaders, bool is_node_aware) : layout_(layout), leaders_(leaders) {
    int largest = 0, most_leaders = 0;
    for (int node = 0; node < layout.nodes(); ++node) {
      first_group_.push_back(groups_);
      groups_ += leaders_on(node);
      most_leaders = std::max(most_leaders, leaders_on(node));
      largest = std::max(largest, (layout.ppn(node) + leaders_on(node) - 1) / leaders_on(node));
    }
    const auto add = [&](Step step, const char* label, int rounds) {
      if (rounds == 0) return;
      steps_.push_back(step);
      stages_.push_back({.label = label, .rounds = rounds});
    };
    add(Step::gather, "to the leader", largest - 1);
    if (is_node_aware) {
      add(Step::to_node, "between the leaders of nodes", layout.nodes() - 1);
      add(Step::on_node, "between the leaders of a node", most_leaders - 1);
    } else {
      add(Step::exchange, "between leaders", groups_ - 1);
    }
    add(Step::scatter, "to the members", largest - 1);
  }

  const std::vector<StageInfo>& stages() const override { return stages_; }

  Rank next(const Block& block, Rank at, int stage) const override {
    if (at == block.destination) return at;
    switch (steps_[static_cast<std::size_t>(stage)]) {
      case Step::gather: return group_of(block.source).leader;
      case Step::to_node: {
        const int node = layout_.node(block.destination);
        return node == layout_.node(at) ? at : counterpart_on(node, group_of(at)).leader;
      }
      case Step::exchange:
      case Step::on_node: return group_of(block.destination).leader;
      case Step::scatter: return block.destination;
    }
    return at;
  }

  void next_of_each(std::span<const Block> blocks, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override {
    for (std::size_t i = 0; i < blocks.size(); ++i) to[i] = next(blocks[i], at[i], stage);
  }

  int round(Rank from, Rank to, int stage) const override {
    switch (steps_[static_cast<std::size_t>(stage)]) {
      case Step::gather: return layout_.local(from) - layout_.local(to);
      case Step::exchange: return (group_of(to).number - group_of(from).number + groups_) % groups_;
      case Step::to_node: return (layout_.node(to) - layout_.node(from) + layout_.nodes()) % layout_.nodes();
      case Step::on_node: {
        const int leaders = leaders_on(layout_.node(from));
        return (group_of(to).number - group_of(from).number + leaders) % leaders;
      }
      case Step::scatter: return layout_.local(to) - layout_.local(from);
    }
    return 0;
  }

  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override {
    const auto own = group_of(rank);
    const auto step = steps_[static_cast<std::size_t>(stage)];
    const bool is_leader = own.leader == rank;
    if (is_leader == (step == Step::gather)) return {};
    switch (step) {
      case Step::gather: return {message_to_leader(own)};
      case Step::exchange: return runs_between_leaders(own);
      case Step::to_node: return runs_to_nodes(own);
      case Step::on_node: return runs_on_node(own);
      case Step::scatter: return runs_to_members(own);
    }
    return {};
  }

 private:
  enum class Step { gather, exchange, to_node, on_node, scatter };

  struct Group {
    int number = 0;  ///< over all nodes
    Rank leader = 0;
    int size = 0;
  };

  int leaders_on(int node) const { return std::min(leaders_, layout_.ppn(node)); }

  /// Group g of q ranks in `groups` groups begins at the first local rank l with l·groups/q = g.
  Group group_of(Rank rank) const {
    const int node = layout_.node(rank), ppn = layout_.ppn(node), groups = leaders_on(node);
    const auto group = static_cast<int>(std::int64_t{layout_.local(rank)} * groups / ppn);
    return group_on(node, group);
  }
  Group group_on(int node, int group) const {
    const std::int64_t ppn = layout_.ppn(node), groups = leaders_on(node);
    const auto begin = (group * ppn + groups - 1) / groups, end = ((group + 1) * ppn + groups - 1) / groups;
    return {first_group_[static_cast<std::size_t>(node)] + group,
            layout_.ranks_of(node)[static_cast<std::size_t>(begin)], static_cast<int>(end - begin)};
  }

  int index_on_node(const Group& group) const {
    return group.number - first_group_[static_cast<std::size_t>(layout_.node(group.leader))];
  }
  /// The group with the same number on another node; where that has fewer leaders, several share one.
  Group counterpart_on(int node, const Group& group) const {
    return group_on(node, index_on_node(group) % leaders_on(node));
  }

  // All but a block of its own, of which one is the leader's.
  UniformMessage message_to_leader(const Group& own) const {
    const std::int64_t blocks = layout_.ranks() - 1;
    const bool lands = blocks == 1;
    return {own.leader, blocks, 1, lands ? 0 : 1, lands ? 0 : 1};
  }

  // What a leader has gathered lies in a message from each of its group.
  UniformMessage message_between(const Group& own, const Group& other) const {
    const std::int64_t blocks = std::int64_t{own.size} * other.size;
    const bool lands = other.size == 1;
    return {other.leader, blocks, own.size == 1 ? 1 : blocks, lands ? 0 : own.size, lands ? 0 : 1};
  }

  std::vector<UniformRun> runs_between_leaders(const Group& own) const {
    const int ranks = layout_.ranks();
    if (layout_.is_regular() && layout_.max_ppn() % leaders_on(0) == 0) {
      const Ring ring{0, ranks, own.size};
      auto message = message_between(own, own);
      message.to = ring.after(own.leader, 1);
      return {{message, groups_ - 1, ring}};
    }
    std::vector<UniformRun> runs;
    for (int node = 0; node < layout_.nodes(); ++node)
      for (int group = 0; group < leaders_on(node); ++group)
        if (const auto other = group_on(node, group); other.number != own.number)
          runs.push_back(message_between(own, other));
    return runs;
  }

  // What the group has for all ranks of a node.
  std::vector<UniformRun> runs_to_nodes(const Group& own) const {
    const auto message_to = [&](Rank leader, std::int64_t ranks) {
      const std::int64_t blocks = own.size * ranks;
      const bool lands = ranks == 1;
      return UniformMessage{leader, blocks, own.size == 1 ? 1 : blocks, lands ? 0 : own.size, lands ? 0 : 1};
    };
    if (layout_.is_regular()) {
      const int ppn = layout_.max_ppn();
      const Ring ring{layout_.local(own.leader), layout_.ranks(), ppn};
      return {{message_to(ring.after(own.leader, 1), ppn), layout_.nodes() - 1, ring}};
    }
    std::vector<UniformRun> runs;
    for (int node = 0; node < layout_.nodes(); ++node)
      if (node != layout_.node(own.leader))
        runs.push_back(message_to(counterpart_on(node, own).leader, layout_.ppn(node)));
    return runs;
  }

  // What groups of its number on all nodes have for another group of the node.
  std::vector<UniformRun> runs_on_node(const Group& own) const {
    const int node = layout_.node(own.leader), leaders = leaders_on(node);
    std::int64_t sources = 0, sending_groups = 0;
    for (int other = 0; other < layout_.nodes(); ++other)
      for (int index = index_on_node(own); index < leaders_on(other); index += leaders) {
        sources += group_on(other, index).size;
        ++sending_groups;
      }
    std::vector<UniformRun> runs;
    for (int distance = 1; distance < leaders; ++distance) {
      const auto other = group_on(node, (index_on_node(own) + distance) % leaders);
      const std::int64_t blocks = sources * other.size;
      runs.push_back(UniformMessage{other.leader, blocks, blocks, sources, sending_groups});
    }
    return runs;
  }

  // A piece from each other group, and one from each of its own but the member itself.
  std::vector<UniformRun> runs_to_members(const Group& own) const {
    const auto mates = layout_.ranks_of(layout_.node(own.leader));
    const auto leader = static_cast<std::size_t>(layout_.local(own.leader));
    std::vector<UniformRun> runs;
    for (int i = 1; i < own.size; ++i)
      runs.push_back(UniformMessage{mates[leader + static_cast<std::size_t>(i)], layout_.ranks() - 1,
                                    groups_ - 1 + own.size - 1, 0, 0});
    return runs;
  }

  Layout layout_;
  int leaders_;
  int groups_ = 0;
  std::vector<int> first_group_;  // by node
  std::vector<StageInfo> stages_;
  std::vector<Step> steps_;  // of each stage
};

std::string malformed(const Strategy& strategy) {
  if (strategy.values("leaders").empty()) return "it needs leaders";
  return strategy.values("leaders")[0] == 1 && !strategy.values("node-aware").empty()
             ? "of one leader a node all messages go to a node anyway, so it is not node-aware"
             : "";
}

bool is_node_aware(const Strategy& strategy) { return !strategy.values("node-aware").empty(); }

std::string inapplicable(const Strategy& strategy, const Layout& layout) {
  const auto leaders = strategy.values("leaders")[0];
  return leaders <= layout.max_ppn()
             ? ""
             : fmt::format("{} leaders are more than the {} ranks of a node", leaders, layout.max_ppn());
}

std::unique_ptr<Route> make(const Strategy& strategy, const Layout& layout, const PatternTables&) {
  return std::make_unique<LeaderRoute>(layout, static_cast<int>(strategy.values("leaders")[0]),
                                       is_node_aware(strategy));
}

std::vector<Strategy> suggest(const Layout& layout) {
  const int ppn = layout.max_ppn();
  if (layout.nodes() == 1 || ppn == 1) return {};  // nothing to gather for others, or the same as standard
  std::vector<Strategy> strategies;
  for (const int leaders : std::set{1, (layout.sockets() + layout.nodes() - 1) / layout.nodes()})
    if (leaders < ppn) strategies.push_back({"multi-leader", {{"leaders", {leaders}}}, {}});
  constexpr int ranks_of_leader = 4;
  if (const int leaders = ppn / ranks_of_leader; leaders > 1)
    strategies.push_back({"multi-leader", {{"leaders", {leaders}}, {"node-aware", {1}}}, {}});
  return strategies;
}

}  // namespace multi_leader
}  // namespace

CatalogueRow multi_leader_row() {
  using namespace multi_leader;
  return {.name = "multi-leader",
          .usage = "multi-leader,leaders=L[,node-aware][,window=W][,staggered]",
          .summary = "gathered on L ranks of the node, from these to those of all nodes, and handed out there",
          .source =
              "Kandalla et al. 2009 (leaders of a node), for blocks in place of an allgather; node-aware: the "
              "all-to-alls of MPI Advance",
          .parameters = {{"leaders", Parameter::Kind::integer, 1, "the leaders of a node, 1 to its ranks"},
                         {"node-aware", Parameter::Kind::flag, 1,
                          "a leader sends one message to each node, whose leaders then exchange their ranks' blocks"}},
          .default_window = {},
          .malformed = malformed,
          .inapplicable = inapplicable,
          .make = make,
          .suggest = suggest,
          .vary = [](const Strategy& strategy, const Layout& layout) {
            auto result = vary_argument(strategy, "leaders", 1, layout.max_ppn() - 1);
            auto& other = result.emplace_back(strategy);
            other.set("node-aware",
                      is_node_aware(strategy) ? std::vector<std::int64_t>() : std::vector<std::int64_t>{1});
            return result;
          }};
}

}  // namespace commpass
