// The messages of all ranks in a sparse exchange: known to all here, and so the expected arrivals.
#pragma once

#include <vector>

#include "runtime/random/element.hpp"
#include "runtime/random/image.hpp"
#include "runtime/random/place.hpp"

namespace commpass::random_test {

/// A message, in elements of its sender's type.
struct SparseMessage {
  Rank source = 0, destination = 0;
  int count = 0, displacement = 0;
};

struct SparseProblem {
  bool constant = false;
  int constant_units = 0;
  std::vector<SparseMessage> messages;     ///< those of a rank in its order
  std::vector<Element> sent, received;     ///< types, by rank
  std::vector<Bytes> origins, sent_bytes;  ///< of displacement 0 in a rank's send buffer, and its size

  /// @param single  at most one message for a rank from another
  /// @param typed   any types; otherwise bytes
  SparseProblem(Draw& draw, const Place& place, bool constant_size, bool single, bool typed);

  std::vector<SparseMessage> from(Rank rank) const;
  /// By source, and those of one source in its order.
  std::vector<SparseMessage> to(Rank rank) const;
  /// The bytes of a message, if its sender's buffer has a key.
  Buffer data(const SparseMessage& message, std::uint64_t key) const;
};

}  // namespace commpass::random_test
