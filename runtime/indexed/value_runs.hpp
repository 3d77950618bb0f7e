// Values of one size that are copied, or added, from places of one array to places of another.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/indexed/indexed_exchange.hpp"

namespace commpass {

class Memory;
struct LocalCopy;

/// Values that lie one after another both where they are and where they go. Positions count values.
struct ValueRun {
  std::int64_t from = 0, to = 0, count = 0;
  bool operator==(const ValueRun&) const = default;
};

using ValueRuns = std::vector<ValueRun>;

/// More values, which make the last run longer if they follow it on both sides.
inline void append(ValueRuns& runs, std::int64_t from, std::int64_t to, std::int64_t count = 1) {
  if (!runs.empty() && runs.back().from + runs.back().count == from && runs.back().to + runs.back().count == to)
    runs.back().count += count;
  else runs.push_back({from, to, count});
}

/// The runs of the way back, in the same order.
inline ValueRuns reversed(ValueRuns runs) {
  for (auto& run : runs) std::swap(run.from, run.to);
  return runs;
}

/// The first value for each place, and the others, both in their order.
struct SplitRuns {
  ValueRuns first, more;
};
/// @param is_filled  by place, as long as needed: does it have a value already? Then none is its first
SplitRuns split_by_place(const ValueRuns& runs, std::vector<bool>& is_filled);

/// Copies value after value. The values of a run do not overlap where they go.
void copy_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to);

/// Adds run after run, so sums of floating-point numbers are the same every time.
void add_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to, const Addition& add);

/// Adds piece after piece, whole values each.
void add_pieces(std::span<const LocalCopy> pieces, Bytes value_bytes, const Addition& add);

/// Host memory whose copies are made by a loop as that of copy_values().
Memory& value_memory();

}  // namespace commpass
