// One exchange with one strategy, as pictures of messages need it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/cost/trace.hpp"
#include "model/machine/layout.hpp"
#include "model/machine/machine.hpp"
#include "model/pattern/pattern.hpp"
#include "model/route/strategy.hpp"
#include "model/schedule/schedule.hpp"

namespace commpass {

/// Above so many edges no picture of messages is made.
inline constexpr std::int64_t most_drawn_edges = 1 << 21;

struct ExchangeView {
  Pattern pattern;
  Layout layout;
  Strategy strategy;
  Schedule schedule;
  /// By rank, the rank whose part it plays in the route; empty: each plays its own.
  std::vector<Rank> positions;
};

/// @throws NotApplicable, InputError
ExchangeView view_exchange(Pattern pattern, const Layout& layout, const Strategy& strategy);

/// What every rank does when, on the path of its strategy (trace_exchange).
/// @throws InputError
Trace trace_view(const ExchangeView& view, const Machine& machine);

}  // namespace commpass
