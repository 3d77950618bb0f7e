// Plans exchanges of values when it is known which rank needs which ones. Private to the runtime.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "runtime/indexed/staged_values.hpp"
#include "runtime/indexed/summing_requests.hpp"
#include "runtime/indexed/value_requests.hpp"
#include "runtime/indexed/value_wiring.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"

namespace commpass {

struct Context;

/// Values from their owners to those that need them, or back: planned.
struct Direction {
  ValueWays ways;                        ///< of the user's arrays
  std::unique_ptr<StagedValues> staged;  ///< of the last arrays that lay on a device
  bool is_on_device = false;             ///< do those in flight?
  std::unique_ptr<std::byte[]> send, receive;
  bool is_in_place = false;  ///< received in the user's array; then `receive` is null
  Bytes buffer_bytes = 0;
  Seconds loops_s = 0;               ///< predicted: of the longest loops before and after it
  Summation summation;               ///< of the last values that were added
  std::optional<Exchange> exchange;  ///< last, so that it goes first

  /// With its loops.
  std::optional<Seconds> with_loops(std::optional<Seconds> seconds) const {
    return seconds ? std::optional(*seconds + loops_s) : std::nullopt;
  }
  std::optional<Seconds> predicted_seconds() const { return with_loops(exchange->predicted_seconds()); }
  std::optional<Seconds> measured_seconds() const { return with_loops(exchange->measured_seconds()); }
};

/// One direction, as it was chosen.
struct Way {
  std::unique_ptr<Direction> planned;
  bool is_shared = false;
};

/// Edges of the values that several ranks need, if any are worth a plan. Collective.
/// @throws Error, the same on every rank
std::optional<ValueWiring> wire_shared(SparseEngine& engine, const ValueRequests& requests, Bytes value_bytes,
                                       const IndexedOptions& options);

/// Plans the way there. Collective.
/// @param shared   of wire_shared
/// @param options  the same on every rank
/// @throws Error, the same on every rank
Way plan_forward(const std::shared_ptr<Context>& context, const ValueRequests& requests,
                 const std::optional<ValueWiring>& shared, Bytes value_bytes, const IndexedOptions& options);

/// Likewise the way back. Shared: the way there is run backwards. Else each contribution travels to its owner.
Way plan_back(const std::shared_ptr<Context>& context, const ValueRequests& requests,
              const std::optional<ValueWiring>& shared, Bytes value_bytes, const IndexedOptions& options);

/// The size of a value and the options, of rank 0. Collective. @throws Error, the same on every rank
IndexedOptions agreed_options(MPI_Comm comm, Bytes value_bytes, IndexedOptions options);

/// Plans one. Collective.
/// @param options  those that were agreed
/// @throws Error, the same on every rank
IndexedExchange plan_value_exchange(SparseEngine& engine, const ValueRequests& requests, Bytes value_bytes,
                                    const IndexedOptions& options);

}  // namespace commpass
