// Which rank sits where: in which instance of each level of a machine.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "model/machine/machine.hpp"

namespace commpass {

/// One level of a layout: the instance in which each rank sits, numbered over the whole machine in the order of their
/// first rank.
struct LayoutLevel {
  std::string name;
  std::shared_ptr<const std::vector<int>> instance_of;  ///< by rank
  std::vector<int> ranks_of;                            ///< by instance: how many ranks it has
  int instances() const { return static_cast<int>(ranks_of.size()); }
};

/// Where P ranks sit: which of them share a node, a socket, or an instance of any other level that is told. Instances
/// may have different numbers of ranks. Nodes are numbered 0 … N−1 in the order of their first rank; the local rank of
/// a rank is its position among the ranks of its node, in rank order. Copies share what they hold.
///
/// Levels have the numbers of a machine's (on()), or else of the standard ones. A level that is not told has the
/// instances of the innermost one that is, if it is within that; else it has none, and level() never returns it.
class Layout {
 public:
  /// Ids of the instances of one level, by rank.
  struct LevelIds {
    std::string name;
    std::vector<int> ids;  ///< any integers, meaningful within an instance of the next outer level
  };

  /// @param node_of    P node ids, any integers; equal ids share a node
  /// @param socket_of  P socket ids, meaningful within a node; empty: one socket a node
  /// @param group_of   P group ids, any integers; empty: all nodes are one group
  /// @throws InputError if node_of is empty, the lengths differ, or ranks of a node are in several groups
  explicit Layout(std::span<const int> node_of, std::span<const int> socket_of = {},
                  std::span<const int> group_of = {});

  /// @param levels  innermost first, one of them is named node. An outer one with one instance tells nothing.
  /// @throws InputError if none is, a name is there twice, there are no ranks, lengths differ, or there are too many
  explicit Layout(std::span<const LevelIds> levels);

  /// `groups` × `nodes` × `sockets` × `cores`, ranks placed one node after another.
  static Layout regular(int nodes, int sockets, int cores, int groups = 1);

  /// P ranks, `ppn` on every node but the last, which has the rest.
  static Layout with_ppn(int ranks, int ppn);

  /// The same with the levels of a machine. Takes no time that grows with the number of ranks.
  Layout on(const Machine& machine) const;

  /// The number among `levels` of each told one. Nothing for those that are not there, and for those that are on the
  /// other side of nodes there, or of a told one between nodes and them.
  std::vector<std::optional<Level>> levels_among(std::span<const MachineLevel> levels) const;

  int ranks() const { return static_cast<int>(places_->local_of.size()); }
  int nodes() const { return static_cast<int>(places_->first.size()) - 1; }
  int node(Rank rank) const { return (*places_->node_of)[static_cast<std::size_t>(rank)]; }
  int local(Rank rank) const { return places_->local_of[static_cast<std::size_t>(rank)]; }
  int ppn(int node) const { return static_cast<int>(ranks_of(node).size()); }
  int max_ppn() const { return places_->max_ppn; }
  std::span<const Rank> ranks_of(int node) const {
    const auto* first = &places_->first[static_cast<std::size_t>(node)];
    return std::span(places_->by_node).subspan(first[0], first[1] - first[0]);
  }

  /// The levels that the layout names, innermost first.
  std::span<const LayoutLevel> told() const { return places_->told; }
  /// Socket of a rank, numbered over the whole machine; its node where sockets are not told.
  int socket(Rank rank) const { return (*places_->socket_of)[static_cast<std::size_t>(rank)]; }
  int sockets() const { return places_->sockets; }
  /// Group of a node, numbered in the order of their first rank.
  int group(int node) const {
    return places_->group_of ? (*places_->group_of)[static_cast<std::size_t>(ranks_of(node).front())] : 0;
  }
  int groups() const { return static_cast<int>(places_->ranks_of_group.size()); }
  int ranks_of_group(int group) const { return places_->ranks_of_group[static_cast<std::size_t>(group)]; }

  /// The innermost level of which both ranks are in one instance.
  Level level(Rank a, Rank b) const {
    auto result = outermost_;
    for (std::size_t i = 0; i < compared_count_; ++i) {
      const auto& [level, instance_of] = compared_[i];
      if (instance_of[a] != instance_of[b]) return result;
      result = level;
    }
    return result;
  }
  /// The level whose channel prices messages of a level: where one beyond nodes has none, the next outer one.
  Level channel_level(Level level) const { return channel_levels_[level]; }
  Level channel_level(Rank a, Rank b) const { return channel_levels_[level(a, b)]; }
  Level node_level() const { return node_level_; }
  /// Of a layout that is not on() a machine: standard ones, or those that are told where one has another name or place.
  std::vector<std::string> level_names() const;
  Level outermost() const { return outermost_; }
  /// The instance of a level, by rank; null for the outermost level, which has one, and for levels that are not told.
  const int* instance_of(Level level) const { return instances_[level].of; }
  /// How many ranks each instance of a level has; empty if the level is not told.
  std::span<const int> ranks_of_instances(Level level) const { return instances_[level].ranks_of; }
  int instances(Level level) const { return static_cast<int>(instances_[level].ranks_of.size()); }
  /// Are there ranks whose innermost common level is this?
  bool has_pairs(Level level) const { return has_pairs_[level]; }
  /// The outermost one of these levels.
  Level farthest() const;

  /// Every node has the same number of ranks.
  bool even() const { return ranks() == nodes() * max_ppn(); }

  /// Even, and rank r is on node r ÷ ppn.
  bool is_regular() const { return is_in_order_of_nodes() && even(); }

  /// No rank is on a node before that of the rank before it.
  bool is_in_order_of_nodes() const { return places_->is_in_order_of_nodes; }

  /// How many nodes each group has, if there are several and nodes follow each other group by group, as many in each.
  /// 0 otherwise.
  int nodes_of_each_group() const;

  /// One line for a person: "4 nodes x 8 ranks", "3 nodes, 2 to 5 ranks each".
  std::string describe() const;

 private:
  struct Places {
    std::vector<LayoutLevel> told;
    std::shared_ptr<const std::vector<int>> node_of, socket_of, group_of;  ///< by rank; no group_of: there is one
    std::vector<int> local_of, ranks_of_group;
    std::vector<int> all_ranks;      ///< of the outermost level's one instance
    std::vector<Rank> by_node;       ///< the ranks of node 0, of node 1, …
    std::vector<std::size_t> first;  ///< of each node in these, and their end
    int max_ppn = 0;
    int sockets = 0;
    bool is_in_order_of_nodes = true;
  };
  struct Compared {
    Level level;
    const int* instance_of;
  };
  struct Instances {
    const int* of = nullptr;
    std::span<const int> ranks_of;
  };

  friend Layout layout_of_part(const Layout& layout, std::span<const Rank> ranks);
  /// @param keeps_all  also an outer level with one instance
  Layout(std::span<const LevelIds> levels, bool keeps_all);
  void set_levels(std::span<const MachineLevel> levels, const MemoryChannels& channels);

  std::shared_ptr<const Places> places_;
  // The members below are of the levels of the machine.
  std::array<Compared, most_levels> compared_{};  ///< the named levels, outermost first
  std::size_t compared_count_ = 0;
  std::array<Instances, most_levels> instances_{};
  std::array<Level, most_levels> channel_levels_{};
  std::array<bool, most_levels> has_pairs_{};
  Level node_level_ = 0, outermost_ = 0;
};

/// That of some ranks, each where it sits, renumbered in the order in which they are given.
Layout layout_of_ranks(const Layout& layout, std::span<const Rank> ranks);
/// The same where these stand for all: messages of outer levels still leave them, so that these levels stay.
Layout layout_of_part(const Layout& layout, std::span<const Rank> ranks);

/// Reads a layout from text: "4x8" (nodes × ranks), "4x2x8" (nodes × sockets × ranks a socket), "2x4x2x8" (groups ×
/// nodes of a group × sockets × ranks a socket), "2x4x2x4x14" (with NUMA domains of a socket) and "2x4x2x4x2x7" (with
/// caches of these); "node=4,socket=2,core=8" with levels of any names, outermost first, and ranks last; or one entry a
/// rank, "0,0,1" (node), "0.0,0.1,1.0" (node.socket), "0.0.0,0.1.0,1.0.0" (group.node.socket), or with other levels
/// "node.numa:0.0,0.1,1.0". Ranks in different instances of a level are in different ones of the levels within it.
/// @param ranks  how many ranks the layout must have; 0: any number
/// @throws InputError
Layout parse_layout(const std::string& text, int ranks = 0);

/// The text of which parse_layout makes the same layout: an entry a rank, with no more numbers than it needs.
std::string places_text(const Layout& layout);

/// How many ranks the layout of a text has. The layout itself, which may have millions, is not built.
/// @throws InputError
int ranks_of_layout(const std::string& text);

}  // namespace commpass
