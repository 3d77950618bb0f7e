// Looks for strategies that no paper lists: other cuts of ranks and nodes into digits, other windows, radices and caps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/machine/layout.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// The number of cheapest candidates from which it goes on.
inline constexpr std::size_t search_breadth = 3;

/// Prices the cheapest candidates whose data is staged with each number of processes that copy in any candidate. Then
/// the neighbours of those that it goes on from (the catalogue's `vary`, and windows), again and again, until nothing
/// next to them is left to be tried, or until it has priced as many as a small multiple of the suggestions would cost.
/// Then the cheapest of each route, and of all, with the flags of their routes. The same input gives the same result.
/// @param candidates  priced already; further ones are appended
/// @param edges       of the pattern: the larger it is, the fewer strategies are tried, since each takes longer
/// @param price       asked for all that lies next to one candidate at once; it may leave some out
/// @param calls       by which candidates are ranked
void search_strategies(std::vector<Candidate>& candidates, const Layout& layout, std::int64_t edges,
                       const Pricer& price, const Calls& calls = {}, SearchFrom from = SearchFrom::near_routes);

/// The most neighbours that are tried for a pattern with `edges` edges.
std::int64_t most_tried(std::int64_t edges);

/// The same without flags.
/// @param most  neighbours that are tried
void search_neighbours(std::vector<Candidate>& candidates, const Layout& layout, std::int64_t most, const Pricer& price,
                       const Calls& calls = {}, SearchFrom from = SearchFrom::near_routes);

/// The flags alone. They are expensive, since tables are made for each, so of large patterns they are not tried.
void search_flags(std::vector<Candidate>& candidates, std::int64_t edges, const Pricer& price, const Calls& calls = {});

}  // namespace commpass
