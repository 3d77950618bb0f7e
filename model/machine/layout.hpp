// Which rank sits on which node and socket.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/types.hpp"

namespace commpass {

/// Where P ranks sit: nodes and sockets, which may have different numbers of ranks.
/// Nodes are numbered 0 … N−1 in the order of their first rank; the local rank of a rank is its
/// position among the ranks of its node, in rank order. Copies share what they hold.
class Layout {
 public:
  /// @param node_of    P node ids, any integers; equal ids share a node
  /// @param socket_of  P socket ids, meaningful within a node; empty: one socket a node
  /// @throws InputError if node_of is empty or the lengths differ
  explicit Layout(std::span<const int> node_of, std::span<const int> socket_of = {});

  /// `nodes` × `sockets` × `cores`, ranks placed one node after another.
  static Layout regular(int nodes, int sockets, int cores);

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

  /// One line for a person: "4 nodes x 8 ranks", "3 nodes, 2 to 5 ranks each".
  std::string describe() const;

 private:
  struct Places {
    std::vector<int> node_of, local_of, socket_of;
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

/// Reads a layout from text: "4x8" (nodes × ranks), "4x2x8" (nodes × sockets × ranks a socket), or
/// one entry a rank, "0,0,1" (node) or "0.0,0.1,1.0" (node.socket).
/// @param ranks  how many ranks the layout must have; 0: any number
/// @throws InputError
Layout parse_layout(const std::string& text, int ranks = 0);

/// How many ranks the layout of a text has. The layout itself, which may have millions, is not built.
/// @throws InputError
int ranks_of_layout(const std::string& text);

}  // namespace commpass
