#include "calibrate/fit/skew.hpp"

#include <algorithm>

#include "selector/choose/select.hpp"

namespace commpass {

int skew_rounds(const Layout& layout) {
  constexpr int rounds_max = 64;
  return std::min(rounds_max, (layout.nodes() - 1) * layout.max_ppn());
}

Pattern make_rounds(const Layout& layout, Bytes bytes) {
  const int rounds = skew_rounds(layout);
  Pattern pattern{layout.ranks(), {}};
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    for (int round = 0; round < rounds; ++round) {
      const int distance = 1 + round % (layout.nodes() - 1), local_distance = round / (layout.nodes() - 1);
      const auto mates = layout.ranks_of((layout.node(rank) + distance) % layout.nodes());
      const int local = (layout.local(rank) + local_distance) % layout.max_ppn();
      if (local < std::ssize(mates)) pattern.edges.push_back({rank, mates[static_cast<std::size_t>(local)], bytes});
    }
  return pattern;
}

Seconds fit_skew(std::span<const HeldOut> exchanges, const Layout& layout, const Machine& machine) {
  const auto beyond = beyond_prices(exchanges);
  if (beyond == 0) return 0;
  const auto strategy = parse_strategy(skew_strategy);
  const auto pattern = make_rounds(layout, 1);
  const auto price_with = [&](Seconds skew_s) {
    auto own = machine;
    own.operations.skew_s = skew_s;
    return price(strategy, pattern, layout, own).cost.seconds;
  };
  constexpr Seconds unit = 1e-6;
  const double waits = (price_with(unit) - price_with(0)) / unit;
  return waits > 0 ? beyond / waits : 0;
}

}  // namespace commpass
