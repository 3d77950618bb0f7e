// Values of one size that are copied, or added, from places of one array to places of another.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/indexed/indexed_exchange.hpp"

namespace commpass {

/// Values that lie one after another both where they are and where they go. Positions count values.
struct ValueRun {
  std::int64_t from = 0, to = 0, count = 0;
  bool operator==(const ValueRun&) const = default;
};

using ValueRuns = std::vector<ValueRun>;

/// One more value, which makes the last run longer if it follows it on both sides.
void append(ValueRuns& runs, std::int64_t from, std::int64_t to);

/// The runs of the way back, in the same order.
ValueRuns reversed(ValueRuns runs);

/// Copies value after value. The values of a run do not overlap where they go.
void copy_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to);

/// Adds run after run, so sums of floating-point numbers are the same every time.
void add_values(const ValueRuns& runs, Bytes value_bytes, const void* from, void* to, const Addition& add);

}  // namespace commpass
