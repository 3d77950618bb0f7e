#include "runtime/random/strategies.hpp"

#include <fmt/core.h>

#include <array>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/sparse_strategy.hpp"

namespace commpass::random_test {

namespace {

constexpr int one_in_chosen = 5;

// NOLINTBEGIN: the numbers are any that apply
/// Sizes of digits whose product is at least `least`.
std::string draw_dimensions(Draw& draw, int least) {
  std::string text;
  for (int product = 1; product < least || text.empty();) {
    const int size = 2 + draw.small(4);
    product *= size;
    text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  }
  return text;
}

/// A strategy with parameters that no route suggests.
std::string draw_unusual(Draw& draw, const Layout& layout) {
  switch (draw.small(9)) {
    case 0: return "stfw,dims=" + draw_dimensions(draw, layout.ranks()) + draw.of({"", ",placed"});
    case 1: return fmt::format("tuna,radix={}", 2 + draw.small(layout.ranks()));
    case 2: return fmt::format("tuna-node,radix={}", 2 + draw.small(layout.max_ppn()));
    case 3: return fmt::format("split,cap={}", 1 + draw.small(draw.of({10, 300, 5000})));
    case 4: return "two-step,node=" + draw_dimensions(draw, layout.nodes());
    case 5:
      return "local-then-node,local=" + draw_dimensions(draw, layout.max_ppn()) +
             ",node=" + draw_dimensions(draw, layout.nodes());
    case 6: return "two-step,local=" + draw_dimensions(draw, layout.max_ppn());
    case 7: return draw.of({"tuna,radix=auto", "tuna-node,radix=auto"});
    default:
      return draw.of({"standard", "standard,large-first", "two-step", "two-step-socket", "three-step",
                      "local-then-node", "stfw,n=1", "mpi"});
  }
}
// NOLINTEND

/// A reason against it, or empty.
std::string refusal(const Strategy& strategy, const Layout& layout, Use use) {
  const auto& row = catalogue_row(strategy.route);
  const bool is_planned = use == Use::planned || use == Use::on_grid;
  if (!is_planned && pattern_need(strategy) != PatternNeed::nothing) return "it needs the pattern";
  // A radix is then chosen by statistics, for which staggered messages have no closed form.
  if (!is_planned && is_automatic(strategy) && strategy.coalescing == Coalescing::staggered) return "it has no price";
  if (const auto reason = row.malformed(strategy); !reason.empty()) return reason;
  if (!is_automatic(strategy)) return row.inapplicable(strategy, layout);
  auto with_the_least = strategy;
  with_the_least.set("radix", {2});
  return row.inapplicable(with_the_least, layout);
}

Strategy draw_named(Draw& draw, const Layout& layout, Use use) {
  while (true) {
    try {
      auto strategy =
          draw.one_in(2) ? draw.pick(suggest_strategies(layout)) : parse_strategy(draw_unusual(draw, layout));
      const auto& row = catalogue_row(strategy.route);
      if (row.vary && !is_automatic(strategy) && draw.one_in(3))
        if (const auto near = row.vary(strategy, layout); !near.empty()) strategy = draw.pick(near);
      if (draw.one_in(2)) strategy.window = {draw.small(5)};
      if (draw.one_in(4)) strategy.coalescing = Coalescing::staggered;
      strategy.path.is_shared = !is_automatic(strategy) && draw.one_in(3);
      strategy = parse_strategy(to_string(strategy));
      if (refusal(strategy, layout, use).empty()) return strategy;
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): its parameters do not go together; another one
    }
  }
}

}  // namespace

std::string draw_strategy(Draw& draw, const Switches& switches, const Layout& layout, Use use) {
  if (switches.with("automatic") && draw.one_in(one_in_chosen)) return {};
  while (true) {
    const auto strategy = draw_named(draw, layout, use);
    if (strategy.route == "mpi" && !switches.with("mpi")) continue;
    if (is_automatic(strategy) && !switches.with("automatic")) continue;
    return to_string(strategy);
  }
}

std::string draw_sparse_strategy(Draw& draw, const Switches& switches, const Layout& layout, bool constant,
                                 bool slots) {
  if (switches.with("automatic") && (!constant || switches.with("rma")) && draw.one_in(one_in_chosen)) return {};
  while (true) {
    auto strategy = draw.pick(suggest_sparse_strategies(layout, constant));
    if (draw.one_in(3)) {  // another route of one that is no direct one
      strategy.route = draw_named(draw, layout, Use::sparse);
      const auto& row = catalogue_row(strategy.route.route);
      if (strategy.route.window != row.default_window || strategy.route.coalescing != Coalescing::coalesced) continue;
      if (is_automatic(strategy.route) ||
          !strategy.route.route.starts_with(draw.of({"two-step", "stfw", "local-then-node"})))
        continue;
      if (strategy.discovery == Discovery::rma) continue;
    }
    if (strategy.discovery == Discovery::rma && !slots) continue;
    return to_string(strategy);
  }
}

// NOLINTBEGIN: any sizes will do
Bytes draw_bytes(Draw& draw) {
  switch (draw.small(12)) {
    case 0: return 0;
    case 1: return 1 + draw.below(3);
    case 2: return draw.of({8, 16, 64});
    case 3: return draw.below(5000);
    case 4: return draw.one_in(4) ? 60000 + draw.below(20000) : draw.below(20);
    default: return draw.below(300);
  }
}
// NOLINTEND

}  // namespace commpass::random_test
