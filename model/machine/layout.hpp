// Which rank sits on which node and socket, and which nodes share a switch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// Where P ranks sit: nodes and sockets, which may have different numbers of ranks.
/// Nodes are numbered 0 … N−1 in the order of their first rank; the local rank of a rank is its
/// position among the ranks of its node, in rank order. Copies share what they hold.
///
/// Above nodes there may be groups: nodes below one switch, or of one group of a dragonfly. Messages between groups
/// share the links of both. Where nobody knows of groups, all nodes are one.
class Layout {
 public:
  /// @param node_of    P node ids, any integers; equal ids share a node
  /// @param socket_of  P socket ids, meaningful within a node; empty: one socket a node
  /// @param group_of   P group ids, any integers; empty: all nodes are one group
  /// @throws InputError if node_of is empty, the lengths differ, or ranks of a node are in several groups
  explicit Layout(std::span<const int> node_of, std::span<const int> socket_of = {},
                  std::span<const int> group_of = {});

  /// `groups` × `nodes` × `sockets` × `cores`, ranks placed one node after another.
  static Layout regular(int nodes, int sockets, int cores, int groups = 1);

  /// P ranks, `ppn` on every node but the last, which has the rest.
  static Layout with_ppn(int ranks, int ppn);

  int ranks() const { return static_cast<int>(places_->node_of.size()); }
  int nodes() const { return static_cast<int>(places_->first.size()) - 1; }
  int node(Rank rank) const { return places_->node_of[static_cast<std::size_t>(rank)]; }
  int local(Rank rank) const { return places_->local_of[static_cast<std::size_t>(rank)]; }
  int ppn(int node) const { return static_cast<int>(ranks_of(node).size()); }
  int max_ppn() const { return places_->max_ppn; }
  /// Socket of a rank, numbered over the whole machine.
  int socket(Rank rank) const { return places_->socket_of[static_cast<std::size_t>(rank)]; }
  int sockets() const { return places_->sockets; }
  /// Group of a node, numbered in the order of their first rank.
  int group(int node) const {
    return places_->group_of.empty() ? 0 : places_->group_of[static_cast<std::size_t>(node)];
  }
  int groups() const { return static_cast<int>(places_->ranks_of_group.size()); }
  int ranks_of_group(int group) const { return places_->ranks_of_group[static_cast<std::size_t>(group)]; }
  GroupWay group_way(Rank a, Rank b) const {
    if (places_->group_of.empty()) return GroupWay::unknown;
    return group(node(a)) == group(node(b)) ? GroupWay::within : GroupWay::between;
  }
  std::span<const Rank> ranks_of(int node) const {
    const auto* first = &places_->first[static_cast<std::size_t>(node)];
    return std::span(places_->by_node).subspan(first[0], first[1] - first[0]);
  }

  Locality locality(Rank a, Rank b) const {
    if (node(a) != node(b)) return Locality::network;
    return socket(a) == socket(b) ? Locality::socket : Locality::node;
  }

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
    std::vector<int> node_of, local_of, socket_of;
    std::vector<int> group_of;  ///< of each node; empty: there is one
    std::vector<int> ranks_of_group;
    std::vector<Rank> by_node;       ///< the ranks of node 0, of node 1, …
    std::vector<std::size_t> first;  ///< of each node in these, and their end
    int max_ppn = 0;
    int sockets = 0;
    bool is_in_order_of_nodes = true;
  };

  std::shared_ptr<const Places> places_;
};

/// That of the ranks of one node alone.
Layout layout_of_node(const Layout& layout, int node);

/// That of some ranks, each where it sits, renumbered in the order in which they are given.
Layout layout_of_ranks(const Layout& layout, std::span<const Rank> ranks);

/// Reads a layout from text: "4x8" (nodes × ranks), "4x2x8" (nodes × sockets × ranks a socket), "2x4x2x8" (groups ×
/// nodes of a group × sockets × ranks a socket), or one entry a rank, "0,0,1" (node), "0.0,0.1,1.0" (node.socket) or
/// "0.0.0,0.1.0,1.0.0" (group.node.socket, where nodes of different groups are different nodes).
/// @param ranks  how many ranks the layout must have; 0: any number
/// @throws InputError
Layout parse_layout(const std::string& text, int ranks = 0);

/// The text of which parse_layout makes the same layout: an entry a rank, with no more numbers than it needs.
std::string places_text(const Layout& layout);

/// How many ranks the layout of a text has. The layout itself, which may have millions, is not built.
/// @throws InputError
int ranks_of_layout(const std::string& text);

}  // namespace commpass
