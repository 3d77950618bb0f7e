// Which values ranks need of each other: the cases of bench indexed, and what other libraries do with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/peer_schedules.hpp"
#include "model/pattern/matrix_market.hpp"

namespace commpass::bench {

inline constexpr Bytes value_bytes = 8;

/// Rank r owns the values begin[r] ≤ index < begin[r + 1], and needs values of others, none twice.
struct ValueNeeds {
  std::vector<std::int64_t> begin;
  std::vector<std::vector<std::int64_t>> needed;  ///< by rank, in the order of its ghost values

  int ranks() const { return static_cast<int>(needed.size()); }
  Rank owner(std::int64_t index) const;
};

/// The columns that the rows of each rank touch, ascending, by blocks of rows.
ValueNeeds needs_of_matrix(const CoordinateMatrix& matrix, int ranks);

/// Every rank needs `values` values of each of `owners` others, all drawn, and lists them in the order of drawing.
ValueNeeds random_needs(int ranks, int owners, int values);

/// Every rank needs `values` values, drawn from those of every eighth rank, so that several ranks need the same ones.
ValueNeeds popular_needs(int ranks, int values);

/// As text for `commpass-indexed`: a line of the owned indices, then one for each rank.
std::string to_text(const ValueNeeds& needs);
/// @throws Error if it is no such text
ValueNeeds parse_needs(const std::string& text);

/// The edges: bytes that an owner has for a needer.
Pattern pattern_of(const ValueNeeds& needs);

// Below, pieces are runs of values. A line from a rank to itself is its caller's own loop.

/// The loop of PetscSF (basic): each message is packed by a loop over its values, sent from the pack buffer, received
/// in an unpack buffer, and unpacked by another loop.
PeerSchedule packed_loop(const ValueNeeds& needs, const Layout& layout);

/// The level-aware exchange of MPI Advance, between a caller's loop that packs values for each needer and one that
/// unpacks them.
PeerSchedule packed_locality_aware(const ValueNeeds& needs, const Layout& layout);

/// The same with global indices (Bienz, Gropp, Olson: Node aware sparse matrix-vector multiplication, JPDC 2019): a
/// value that several ranks of a node need is gathered and crosses once.
PeerSchedule locality_aware_once(const ValueNeeds& needs, const Layout& layout);

}  // namespace commpass::bench
