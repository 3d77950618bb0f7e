// Values of one rank that the same other ranks need, so that these can travel once as far as they go together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "runtime/indexed/value_requests.hpp"

namespace commpass {

/// Values that lie one after another in the send buffer. Each of its readers has an edge for them, with the same bytes.
struct ValueGroup {
  std::vector<std::size_t> readers;     ///< requests, two or more
  std::vector<std::int64_t> positions;  ///< among the owned values, ascending
  std::vector<std::int64_t> ordinals;   ///< of each value, in the requests of the readers: value after value
};

/// All sets of two or more ranks that need the same values.
std::vector<ValueGroup> group_values(std::span<const ValueRequest> requests);

/// Leaves the groups that save more bytes between nodes than their edges cost: if several readers share a node that is
/// not the owner's, their values may cross the network once. The others go with the rest of what each of their readers
/// needs.
void keep_worthwhile(std::vector<ValueGroup>& groups, std::span<const ValueRequest> requests, Rank owner,
                     Bytes value_bytes, const Layout& layout, const Machine& machine);

}  // namespace commpass
