// The words of Commpass that travel everywhere, as types.
#pragma once

#include <cstddef>
#include <cstdint>

namespace commpass {

using Rank = int;            ///< 0 … P−1
using Bytes = std::int64_t;  ///< a size in bytes, never negative
using Seconds = double;

/// A number that is not negative as an index.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Bytes that a rank sends more than once. Edges of one source with the same payload have the same bytes, and as many.
using Payload = std::int32_t;
inline constexpr Payload no_payload = -1;  ///< an edge's own bytes, which no other edge has

/// What two ranks have in common, from near to far.
enum class Locality : std::uint8_t { socket, node, network };
inline constexpr int locality_count = 3;

/// Where the nodes of two ranks are: in one group of several, in two groups, or nobody knows of groups.
enum class GroupWay : std::uint8_t { unknown, within, between };

/// "socket", "node" or "network", the keys of a profile.
const char* name_of(Locality locality);

}  // namespace commpass
