// Selects the ranks of experiments: pairs, partners and rings. No MPI.
#pragma once

#include <vector>

#include "model/machine/layout.hpp"

namespace commpass {

/// In one-way experiments `first` sends.
struct Pair {
  Rank first = 0, second = 0;
  bool operator==(const Pair&) const = default;
};

/// Disjoint pairs of a level: between the two largest nodes, or within the instance with most pairs. The pair of the
/// lowest ranks comes first.
/// @param level  nodes, one within them, or the outermost one
std::vector<Pair> disjoint_pairs(const Layout& layout, Level level);

/// Disjoint pairs between the largest node and the other nodes in turn, into it or out of it.
std::vector<Pair> pairs_into_one_node(const Layout& layout);
std::vector<Pair> pairs_out_of_one_node(const Layout& layout);

/// Up to 16 ranks whose messages with `rank` are of a level, on as many nodes as possible.
std::vector<Rank> partners(const Layout& layout, Rank rank, Level level);

/// Rings of ranks with the same position on their nodes, so that all nodes are busy at once. Each has at least two
/// ranks.
std::vector<std::vector<Rank>> rings_between_nodes(const Layout& layout);

/// Rings of the ranks of each innermost instance within the largest instance of a level. Each has at least two ranks.
std::vector<std::vector<Rank>> rings_within(const Layout& layout, Level level);

/// Rings of ranks with the same position in their instances of a level. All ranks send at once to another instance
/// within the same instance of the next outer level, and the ranks of an instance to all others in turn. None if there
/// is one instance, or the layout lacks the level.
std::vector<std::vector<Rank>> rings_between(const Layout& layout, Level level);

}  // namespace commpass
