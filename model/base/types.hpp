// The words of Commpass that travel everywhere, as types.
#pragma once

#include <cstddef>
#include <cstdint>

namespace commpass {

using Rank = int;            ///< 0 … P−1
using Bytes = std::int64_t;  ///< a size in bytes, never negative
using Seconds = double;      ///< a time

/// A number that is not negative as an index.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Bytes that a rank sends more than once. Edges of one source with the same payload have the same bytes, and as many.
using Payload = std::int32_t;
inline constexpr Payload no_payload = -1;  ///< an edge's own bytes, which no other edge has

/// A level of a machine by its number, innermost first: of two ranks, the innermost one of which they share an
/// instance.
using Level = std::uint8_t;
inline constexpr std::size_t most_levels = 8;

}  // namespace commpass
