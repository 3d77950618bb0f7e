// Keeps the limits of messages in flight on the rank that sends.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "model/cost/demand.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// Cuts the sends of a batch into groups, each within the limits. All but the last group are synchronous: a send is
/// complete when its receive has begun, not when its buffer is free. Local: all receives are posted before the first
/// group, so every group ends.
class SendLimits {
 public:
  SendLimits() = default;  ///< none
  /// @param rank  that sends
  SendLimits(const Limits& limits, const Layout& layout, Rank rank)
      : off_node_max_(messages_off_node(limits)),
        in_flight_max_(limits.messages.value_or(unlimited)),
        layout_(layout),
        node_(layout.node(rank)) {}

  /// The number of the first sends that are within the limits, together with those in flight.
  /// @param peer_of  the peer of a send; MPI_PROC_NULL: it is not posted
  template <class Sends, class PeerOf>
  std::size_t posted_at_once(const Sends& sends, PeerOf peer_of, int off_node = 0, int in_flight = 0) const {
    const auto count = static_cast<std::size_t>(std::size(sends));
    if (!layout_) return count;
    for (std::size_t i = 0; i < count; ++i) {
      const Rank peer = peer_of(sends[i]);
      if (peer == MPI_PROC_NULL) continue;
      const bool leaves = is_off_node(peer);
      if (in_flight == in_flight_max_ || (leaves && off_node == off_node_max_)) return i;
      ++in_flight;
      off_node += leaves ? 1 : 0;
    }
    return count;
  }
  bool is_off_node(Rank peer) const {
    return layout_ && layout_->node(members_.empty() ? peer : members_[static_cast<std::size_t>(peer)]) != node_;
  }
  /// The limits where peers are ranks of a communicator with these members, ascending; none: of the whole one.
  SendLimits among(std::vector<Rank> members) const {
    auto result = *this;
    result.members_ = std::move(members);
    return result;
  }

 private:
  static constexpr int unlimited = std::numeric_limits<int>::max();
  int off_node_max_ = unlimited, in_flight_max_ = unlimited;
  std::optional<Layout> layout_;
  int node_ = 0;
  std::vector<Rank> members_;
};

}  // namespace commpass
