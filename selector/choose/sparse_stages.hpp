// Among whom the stages of a sparse strategy take place, and who of them decides how long they take.
#pragma once

#include <span>
#include <vector>

#include "model/cost/discovery_cost.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/route/route.hpp"
#include "model/route/sparse_strategy.hpp"

namespace commpass {

/// Finds the ranks that others wait for, before anything is known of the messages: by what small ones to all peers
/// would take. Where digits do not fit the nodes, or nodes are uneven, ranks do not have the same peers: who stands in
/// for others in one stage may have none in the next.
class SparseStages {
 public:
  SparseStages(const Layout& layout, const Machine& machine);

  /// For each stage the group, and the peers, of a rank on the critical path through all stages; of very many ranks
  /// those of the most expensive of each stage that was looked at. Nothing where there is one rank.
  std::vector<DiscoveryGroup> of(const SparseStrategy& strategy) const;

 private:
  struct Way;

  DiscoveryGroup all_ranks() const;
  DiscoveryGroup most_expensive(const Route& route, int stage) const;
  void await_peers(const Route& route, std::vector<DiscoveryGroup>& stages) const;
  void await_groups(const Route& route, std::vector<DiscoveryGroup>& stages) const;
  ByLevel count_peers(Rank rank, std::span<const Rank> peers) const;
  Seconds telling_seconds(const ByLevel& peers) const;
  Seconds dense_seconds(const ByLevel& peers, Seconds told) const;

  Layout layout_;      // on() the machine
  ByLevel alone_s_{};  ///< of a lone small message
  ByLevel next_s_{};   ///< until the next one can follow
};

}  // namespace commpass
