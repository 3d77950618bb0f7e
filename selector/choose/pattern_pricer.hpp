// Prices of strategies for a pattern whose edges are known: in full, or by some ranks alone.
#pragma once

#include <optional>
#include <vector>

#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// Prices by the edges of a pattern. The pattern, the layout and the machine must live as long as the result.
/// @param calls    given: the time to plan is predicted, too
/// @param threads  the most that it may start; each holds a schedule
/// @param places   see prepare
/// @throws InputError
Pricer pattern_pricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                      const Calls& calls, unsigned threads = 8, const std::optional<BufferPlaces>& places = {});

/// A pricer, and one of sketches that shares its preparations. A sketch is the price of all that passes through some
/// ranks: nearly that of the whole, and no more (but for the order in which late messages are taken in). It takes a
/// fraction of the time. Placed ranks depend on all that is sent: their sketch is 0.
struct PatternPricers {
  Pricer whole, sketch;
};

/// @param sketched  by rank: is all that passes through it looked at? Whole nodes, so that what they share is right
/// @throws InputError
PatternPricers pattern_pricers(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                               std::vector<bool> sketched, unsigned threads = 8);

}  // namespace commpass
