// The cheapest strategies for a very large pattern: all are looked at by sketches, from which the search goes on, and
// only those that may be the cheapest are priced in full.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/cost/sample.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// Ways to price strategies for one pattern. Each says no more than the next one, and takes a fraction of its time. 0:
/// it knows nothing.
struct PricersByDepth {
  Pricer part;     ///< the messages of the busiest ranks alone, on a machine on which nothing is shared (busiest_part)
  Pricer sketch;   ///< all that passes through some nodes (PatternPricers)
  Pricer sample;   ///< that of a program
  Pricer whole{};  ///< of more messages; null: samples are enough
};

/// Of a pattern that is large enough for them; else nothing. The same for the same pattern, layout and machine. These
/// must live as long as the result.
/// @param threads  the most that each may start
/// @throws InputError
std::optional<PricersByDepth> pricers_by_depth(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                               CostModel model, unsigned threads = 8);

/// How many strategies are priced at once.
inline constexpr std::size_t fewest_finalists = 8;

/// Ranks suggestions, and what search_strategies finds from there by sketches alone. By samples are priced those that
/// are not more expensive by their sketch than the third cheapest by its sample, the most promising first. Those of
/// which samples do not tell which is the cheapest are then priced in whole. The others come with the prices of their
/// samples, or of their parts (Candidate::is_part).
/// @param edges    see search_strategies
/// @param machine  whose uncertainty lets more be priced in full
/// @param at_once  how many are priced at once, by sketches or in full, before it is known whether they are worth
/// it. The cheapest one hardly depends on it
std::vector<Candidate> rank_finalists(const PricersByDepth& price, std::span<const Strategy> suggestions,
                                      const Layout& layout, const Machine& machine, std::int64_t edges,
                                      std::size_t at_once = fewest_finalists);

}  // namespace commpass
