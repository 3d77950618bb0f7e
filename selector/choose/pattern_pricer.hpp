// Prices of strategies for a pattern whose edges are known: in full, or by some ranks alone.
#pragma once

#include <optional>
#include <vector>

#include "model/cost/sample.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// Prices by the edges of a pattern. The pattern, the layout and the machine must live as long as the result.
/// @param calls    given: the time to plan is predicted, too
/// @param threads  the most that it may start; each holds a schedule
/// @param places   see prepare
/// @param messages_max  that a price simulates. A strategy with more is priced by a sample (sample_with_error)
/// @throws InputError
Pricer pattern_pricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                      const Calls& calls, unsigned threads = 8, const std::optional<BufferPlaces>& places = {},
                      std::int64_t messages_max = simulated_messages_max);

/// The part of the nodes that a sketch has.
inline constexpr std::size_t nodes_per_sketched_node = 64;

/// Pricers that share their preparations. A sketch is the price of one node of 64 (sample_of_nodes), the busiest ones
/// among them: nearly that of the whole, in a fraction of the time. Placed ranks depend on all that is sent: their
/// sketch is 0. The others simulate up to simulated_messages_max_in_program and simulated_messages_max messages.
struct PatternPricers {
  Pricer sketch, sample, whole;
};

/// @throws InputError
PatternPricers pattern_pricers(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                               SamplingOrder order, unsigned threads = 8);

}  // namespace commpass
