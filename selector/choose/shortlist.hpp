// Which strategies are worth pricing in full when only the cheapest matters: those whose busiest ranks alone would not
// take too long.
#pragma once

#include <span>
#include <vector>

#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"
#include "selector/choose/select.hpp"

namespace commpass {

/// By rank: how long it sends or receives, were all messages sent straight and one after another.
/// @throws InputError if the machine has no parameters for a level that the layout has
std::vector<Seconds> busy_seconds(const Pattern& pattern, const Layout& layout, const Machine& machine);

/// The edges of the few ranks that send or receive for longest.
/// @param busy  see busy_seconds
Pattern busiest_part(const Pattern& pattern, std::span<const Seconds> busy);

/// The machine with nothing that ranks share.
Machine without_sharing(Machine machine);

/// Prices the busiest part of a pattern without sharing. The layout must live as long as the result.
Pricer part_pricer(const Pattern& pattern, std::span<const Seconds> busy, const Layout& layout, const Machine& machine,
                   CostModel model);

/// Prices in full strategies that may be among the cheapest, from which the search goes on. A strategy whose part alone
/// is much more expensive than these keeps the price of that part (Candidate::is_part). The result depends on the calls
/// before.
/// @param whole   prices the pattern
/// @param part    prices a part of it
/// @param margin  prunes a strategy whose part costs at least `margin` times the cheapest prices
/// @param first   strategies that are priced in full whatever their parts: enough to meet one that is nearly the
/// cheapest, and to keep as many cores busy
Pricer shortlist(Pricer whole, Pricer part, double margin, std::size_t first = 8);

/// A shortlist for a pattern, by its busiest part without sharing, if it is so large that this is worth it; else the
/// given pricer. With calls planning counts, too, of which a part says nothing. The layout must live as long as the
/// result.
///
/// The rest of a pattern, and sharing, make a part longer, with one exception: messages that come late are taken in in
/// another order, by which a receiver is done earlier by no more than one of them takes. A margin covers that, and what
/// the profile does not know.
/// @param whole  prices the pattern
/// @throws InputError as busy_seconds
Pricer price_promising(Pricer whole, const Pattern& pattern, const Layout& layout, const Machine& machine,
                       CostModel model, const Calls& calls);

}  // namespace commpass
