#include "runtime/sparse/sparse_tally.hpp"

namespace commpass {

std::vector<std::int64_t> Tally::numbers() const {
  const auto& s = statistics;
  return {failures.sum,
          repeating,
          s.messages,
          s.bytes,
          s.network_messages,
          s.nodes_reached,
          s.messages_max,
          s.bytes_max,
          s.network_messages_max,
          s.nodes_reached_max,
          s.received_messages_max,
          s.received_bytes_max,
          s.node_bytes_max,
          largest_bytes,
          smallest_bytes_negated};
}

Tally Tally::of(std::span<const std::int64_t> n) {
  return {{n[0]}, n[1], {n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12]}, n[13], n[14]};
}

}  // namespace commpass
