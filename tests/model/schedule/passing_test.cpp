// The blocks that pass through some ranks, and ways that are asked for by their ends alone.
#include "model/schedule/passing.hpp"

#include <algorithm>
#include <tuple>

#include "model/route/catalogue.hpp"
#include "model/route/draw.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::draw;

/// By rank.
std::vector<bool> draw_ranks(int ranks) {
  std::vector<bool> result(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < result.size(); ++rank) result[rank] = draw(4) == 0;
  return result;
}

/// More edges than ranks, so that routes take their shorter way to answer.
struct ManyBlocks {
  Layout layout;
  Pattern pattern;

  static ManyBlocks make() {
    const int ranks = 1 + draw(test::most_ranks);
    auto layout = test::draw_layout(ranks, draw);
    return {std::move(layout), test::draw_pattern(ranks, test::most_edges + 4 * ranks, draw)};
  }
};

RC_GTEST_PROP(Passing, TakesBlocksThatAreOnOneOfTheRanksAtAnyTime, ()) {
  const auto [layout, pattern] = ManyBlocks::make();
  const auto is_given = draw_ranks(pattern.ranks);
  const auto whole = prepare(pattern);
  for (const auto& strategy : test::strategies_for(layout)) {
    if (pattern_need(strategy) != PatternNeed::nothing) continue;
    const auto route = make_route(strategy, layout);
    std::vector<Block> expected;
    std::vector<MemoryAddress> addresses;
    for (std::size_t b = 0; b < whole.blocks.size(); ++b) {
      const auto& block = whole.blocks[b];
      std::vector<Rank> on{block.source};
      for (int stage = 0; stage < static_cast<int>(route->stages().size()); ++stage)
        on.push_back(route->next(block, on.back(), stage));
      if (std::ranges::none_of(on, [&](Rank rank) { return is_given[static_cast<std::size_t>(rank)]; })) continue;
      expected.push_back(block);
      addresses.push_back(whole.send_address[b]);
    }
    const auto part = passing(whole, *route, is_given);
    RC_LOG() << to_string(strategy) << ", " << layout.describe() << "\n";
    RC_ASSERT(part.blocks == expected);
    RC_ASSERT(part.send_address == addresses);
  }
}

RC_GTEST_PROP(EveryRoute, TellsTheSameWayByTheEndsOfBlocks, ()) {
  const auto [layout, pattern] = ManyBlocks::make();
  const auto whole = prepare(pattern);
  for (const auto& strategy : test::strategies_for(layout)) {
    const auto route = make_route(strategy, layout, pattern);
    if (route->cuts()) continue;
    std::vector<Rank> at, to(whole.blocks.size());
    for (const auto& block : whole.blocks) at.push_back(block.source);
    for (int stage = 0; stage < static_cast<int>(route->stages().size()); ++stage) {
      const bool is_told = route->next_of_ends(whole.ends, at, stage, to);
      for (std::size_t b = 0; b < at.size(); ++b) {
        const auto next = route->next(whole.blocks[b], at[b], stage);
        RC_LOG() << to_string(strategy) << ", " << layout.describe() << ", stage " << stage << "\n";
        if (is_told) RC_ASSERT(to[b] == next);
        at[b] = next;
      }
    }
  }
}

}  // namespace
}  // namespace commpass
