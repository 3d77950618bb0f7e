// Traffic of a sparse exchange, whose receivers do not know the pattern: in a few numbers that ranks can tell each
// other.
#pragma once

#include <cstdint>
#include <span>

#include "model/machine/layout.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// What one rank sends, and, combined, what all ranks send. Messages to oneself do not count. Integers, so that the
/// order of summation does not matter and every rank has the same.
struct SparseTraffic {
  static constexpr std::size_t sum_count = 4, maximum_count = 7;
  static constexpr std::size_t told_besides =
      4;  ///< numbers, where ranks tell each other these: failures and what slots have to hold

  // Sums over all ranks:
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t network_messages = 0;  ///< to other nodes
  std::int64_t nodes_reached = 0;     ///< other nodes to which a rank sends
  // The most of any rank:
  std::int64_t messages_max = 0;
  std::int64_t bytes_max = 0;
  std::int64_t network_messages_max = 0;
  std::int64_t nodes_reached_max = 0;
  std::int64_t received_messages_max = 0;
  std::int64_t received_bytes_max = 0;
  std::int64_t node_bytes_max = 0;  ///< for one other node; 0 where that is not known
  bool operator==(const SparseTraffic&) const = default;
};

/// That of a rank that sends to these ranks.
/// @param bytes  of each message
SparseTraffic traffic_of(Rank rank, std::span<const Rank> destinations, std::span<const Bytes> bytes,
                         const Layout& layout);

/// What all ranks together send and get.
SparseTraffic traffic_of(const Pattern& pattern, const Layout& layout);

/// Traffic of an all-to-all with equal blocks, without its edges.
SparseTraffic traffic_of_alltoall(Bytes bytes, const Layout& layout);

/// The expected traffic if every rank sends `messages` messages of `bytes` bytes to ranks drawn at random.
SparseTraffic expected_traffic(double messages, double bytes, const Layout& layout);

}  // namespace commpass
