// Edges of an exchange of values, and which value lies where in its buffers.
#pragma once

#include <span>
#include <vector>

#include "runtime/edges.hpp"
#include "runtime/indexed/value_groups.hpp"
#include "runtime/indexed/value_requests.hpp"

namespace commpass {

/// One direction. The send buffer is gathered from the values of the rank; what the receive buffer gets goes to its
/// values.
struct ValueWiring {
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  ValueRuns gather;                                   ///< from values to the send buffer
  ValueRuns gather_more;                              ///< added to the send buffer then
  ValueRuns deliver;                                  ///< from the receive buffer to values
  std::int64_t sent_values = 0, received_values = 0;  ///< of the buffers
};

/// One edge from an owner to each rank that needs its values.
ValueWiring forward_wiring(const ValueRequests& requests, Bytes value_bytes);

/// The values of the way back, whose edges stay those of the way there, for they are run backwards. Values that a rank
/// needs several times are summed before they are sent.
ValueWiring back_wiring(const ValueWiring& forward);

/// Likewise, with one edge to each owner.
ValueWiring reverse_wiring(const ValueRequests& requests, Bytes value_bytes);

/// An edge for each group and reader, and one for the rest of a request. The readers are told the values of each edge
/// in their order. Collective.
/// @throws Error, the same on every rank
ValueWiring shared_wiring(SparseEngine& engine, const ValueRequests& requests, std::span<const ValueGroup> groups,
                          Bytes value_bytes, const SparseOptions& options);

/// Makes the values of a rank its receive buffer, if the values of an edge are delivered one after another: then only
/// values that are needed again are copied, among the values. @return whether it is so
bool receive_in_place(ValueWiring& wiring, Bytes value_bytes);

}  // namespace commpass
