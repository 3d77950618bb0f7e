// Bytes from ranks to nodes: the part of a pattern that a route with relays is made from.
#pragma once

#include <vector>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// The bytes that each rank sends to each other node, those of a payload once.
struct NodeTraffic {
  struct Entry {
    Rank source = 0;
    int node = 0;  ///< not that of `source`
    Bytes bytes = 0;
    bool operator==(const Entry&) const = default;
  };
  std::vector<Entry> entries;  ///< sorted by source and node, one for each pair that has bytes
  Bytes unit = 1;              ///< blocks are cut at multiples of it, and hold whole ones
};

/// @param layout  of as many ranks as the pattern has
/// @throws InputError if it has another number
NodeTraffic node_traffic(const Pattern& pattern, const Layout& layout);

}  // namespace commpass
