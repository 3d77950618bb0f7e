// Which rank sits where in a virtual topology, so that little is forwarded (SC'19 STFW paper §8, its future work).
#pragma once

#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"
#include "model/route/route.hpp"

namespace commpass {

/// Gives each rank a position: the rank of which it plays the part in a route. A block between two ranks then takes
/// the way between their positions.
///
/// Nodes of equal size trade places as wholes, then ranks within a node, as long as that lowers the bytes sent, where
/// bytes that leave a node count twice, or until a bound on the work is reached. So blocks within a node for the route
/// stay within a node. Bytes of one payload for several ranks count for each of them. Depends on its arguments alone.
/// @param route    whose next() depends on source and destination alone, for ranks at their own numbers
/// @param pattern  of as many ranks as the layout has
/// @return by rank, each position once; no more bytes are sent in all than if every rank kept its number
/// @throws InputError if the pattern has another number of ranks
std::vector<Rank> place_ranks(const Route& route, const Layout& layout, const Pattern& pattern);

}  // namespace commpass
