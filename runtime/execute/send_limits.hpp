// The limits of messages in flight, as the rank that sends keeps them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "model/cost/demand.hpp"
#include "model/machine/layout.hpp"

namespace commpass {

/// Sends that are posted at once are cut into groups, each within the limits. All but the last group are synchronous:
/// they are complete when their receivers have them, not when they have left. No other rank takes part in this: all
/// receives are posted before the first group, so every group ends.
class SendLimits {
 public:
  SendLimits() = default;  ///< none
  /// @param rank  that sends
  SendLimits(const Limits& limits, const Layout& layout, Rank rank)
      : most_off_node_(messages_off_node(limits)),
        most_(limits.messages.value_or(unlimited)),
        layout_(layout),
        node_(layout.node(rank)) {}

  /// Of sends that are to be posted, how many are within the limits, together with some in flight.
  /// @param peer_of   of one of them
  /// @param is_there  will it be posted at all?
  template <class Sends, class PeerOf, class IsThere>
  std::size_t posted_at_once(const Sends& sends, PeerOf peer_of, IsThere is_there, int off_node = 0,
                             int in_flight = 0) const {
    const auto count = static_cast<std::size_t>(std::size(sends));
    if (!layout_) return count;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_there(sends[i])) continue;
      const bool leaves = is_off_node(peer_of(sends[i]));
      if (in_flight == most_ || (leaves && off_node == most_off_node_)) return i;
      ++in_flight;
      off_node += leaves ? 1 : 0;
    }
    return count;
  }
  template <class Sends, class PeerOf>
  std::size_t posted_at_once(const Sends& sends, PeerOf peer_of, int off_node = 0, int in_flight = 0) const {
    return posted_at_once(
        sends, peer_of, [](const auto&) { return true; }, off_node, in_flight);
  }
  bool is_off_node(Rank peer) const {
    return layout_ && layout_->node(members_.empty() ? peer : members_[static_cast<std::size_t>(peer)]) != node_;
  }
  /// The same where peers are ranks of a communicator with these members, ascending; none: of the whole one.
  SendLimits among(std::vector<Rank> members) const {
    auto result = *this;
    result.members_ = std::move(members);
    return result;
  }

 private:
  static constexpr int unlimited = std::numeric_limits<int>::max();
  int most_off_node_ = unlimited, most_ = unlimited;
  std::optional<Layout> layout_;
  int node_ = 0;
  std::vector<Rank> members_;
};

}  // namespace commpass
