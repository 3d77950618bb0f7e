// A strategy of a sparse dynamic data exchange: a route, and the discovery by which receivers learn of their messages.
#pragma once

#include <string>
#include <vector>

#include "model/machine/layout.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// How the receivers of a stage, who know nothing, learn what they get.
enum class Discovery {
  nbx,        ///< synchronous sends, then a non-blocking reduction over those who may send: when it is complete, all is
              ///< received
  reduce,     ///< the number of messages for each rank by a reduce-scatter, then probes
  allreduce,  ///< the same by an allreduce: every rank gets the numbers of all
  rma,        ///< one-sided: every rank puts its block into a slot of its own
  dense       ///< a size to every possible peer, even for nothing, then the data: no probes
};

/// Everything about one discovery.
struct DiscoveryRow {
  Discovery discovery;
  const char* name;
  const char* summary;
  const char* memory;               ///< on a rank, besides its own messages
  const char* source;               ///< paper and section
  bool constant_size_only = false;  ///< and for direct routes only: a slot for each rank that may send
};

/// All discoveries. Their order breaks ties.
const std::vector<DiscoveryRow>& discoveries();
const DiscoveryRow& discovery_row(Discovery discovery);

/// A route and a discovery, which every stage of the route uses.
struct SparseStrategy {
  Strategy route;
  Discovery discovery = Discovery::nbx;
  bool operator==(const SparseStrategy&) const = default;

  /// Is every message sent straight to its destination?
  bool is_direct() const;
};

/// Reads "ROUTE+DISCOVERY", for example "direct+nbx", "two-step+reduce" or "stfw,n=2+dense". "direct" is the route
/// that is called standard in other exchanges.
/// @throws InputError
SparseStrategy parse_sparse_strategy(const std::string& text);

/// The canonical text, which parse_sparse_strategy reads back.
std::string to_string(const SparseStrategy& strategy);

/// All strategies worth considering for a layout.
/// @param constant_size  are all messages equally large?
std::vector<SparseStrategy> suggest_sparse_strategies(const Layout& layout, bool constant_size);

}  // namespace commpass
