// Which ranks are timed: pairs that are active at once, and the ranks around one of them.
#pragma once

#include <vector>

#include "model/machine/layout.hpp"

namespace commpass {

/// Two ranks; where it matters, the first one sends.
struct Pair {
  Rank first = 0, second = 0;
  bool operator==(const Pair&) const = default;
};

/// Pairs of a level whose ranks are all different, so that they can be active at once; those between the two largest
/// nodes, or within the instance that has most. The pair of the lowest ranks comes first.
/// @param level  nodes, one within them, or the outermost one
std::vector<Pair> disjoint_pairs(const Layout& layout, Level level);

/// Pairs between the largest node and the other nodes in turn, into it or out of it. All their ranks are different.
std::vector<Pair> pairs_into_one_node(const Layout& layout);
std::vector<Pair> pairs_out_of_one_node(const Layout& layout);

/// Up to 16 ranks that are so related to `rank`, from as many nodes as there are.
std::vector<Rank> partners(const Layout& layout, Rank rank, Level level);

/// Rings of ranks with the same position on their nodes, so that all nodes are busy at once. Each has two ranks or
/// more.
std::vector<std::vector<Rank>> rings_between_nodes(const Layout& layout);

/// Rings of the ranks of each innermost instance within the largest instance of a level. Each has two ranks or more.
std::vector<std::vector<Rank>> rings_within(const Layout& layout, Level level);

/// Rings of ranks with the same position in their instances of a level, so that all of them send at once to another
/// instance within that of the next outer level, and the ranks of each to all these in turn. None where there is one
/// instance, or the level is not told.
std::vector<std::vector<Rank>> rings_between(const Layout& layout, Level level);

}  // namespace commpass
