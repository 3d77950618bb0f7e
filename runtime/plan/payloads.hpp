// Which send edges of a rank have the same bytes.
#pragma once

#include <span>
#include <vector>

#include "runtime/plan/plan.hpp"

namespace commpass {

/// The payload of each edge: edges with the same offset and size in the send buffer have the same number, all others
/// none.
std::vector<Payload> payloads_of(std::span<const SendEdge> sends);

}  // namespace commpass
