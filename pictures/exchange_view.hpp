// One exchange with one strategy: the input of pictures of messages.
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

inline constexpr std::int64_t drawn_edges_max = 1 << 21;  ///< of patterns for pictures of messages

struct ExchangeView {
  Pattern pattern;
  Layout layout;
  Strategy strategy;
  Schedule schedule;
  std::vector<Rank> positions;  ///< by rank, the rank whose part it plays in the route; empty: its own
};

/// @throws NotApplicable, InputError
ExchangeView view_exchange(Pattern pattern, const Layout& layout, const Strategy& strategy);

/// The activities of all ranks on the path of the strategy (trace_exchange).
/// @throws InputError
Trace trace_view(const ExchangeView& view, const Machine& machine);

}  // namespace commpass
