// Properties of every strategy, every layout and every pattern.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "model/route/distance_route.hpp"
#include "model/route/draw.hpp"
#include "model/route/routes/stfw.hpp"
#include "model/schedule/reference_schedule.hpp"
#include "model/support.hpp"

namespace commpass {

CatalogueRow spread_row();  // of docs/architecture.md

namespace {

using test::draw;
using test::most_edges;
using test::most_ranks;

struct Case {
  Layout layout;
  Pattern pattern;
};

Case draw_case() {
  const int ranks = 1 + draw(most_ranks);
  auto layout = test::draw_layout(ranks, draw);
  return {std::move(layout), test::draw_pattern(ranks, most_edges, draw)};
}

/// One of all strategies for the layout.
Strategy draw_strategy(const Layout& layout) {
  const auto all = test::strategies_for(layout);
  return all[static_cast<std::size_t>(draw(static_cast<int>(all.size())))];
}

/// Runs the scheduler on each strategy stage by stage.
template <class Visit>
void for_each_stage(const Route& route, const Strategy& strategy, const Pattern& pattern, Visit visit) {
  auto blocks = blocks_of(pattern);
  route.cut(blocks);
  std::vector<Rank> at;
  for (const auto& block : blocks) at.push_back(block.source);
  for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage) {
    auto departures = depart(route, stage, strategy.window, blocks, at, pattern.ranks);
    if (is_staggered(route.stages()[static_cast<std::size_t>(stage)], strategy.coalescing))
      stagger(route, departures, strategy.window, blocks, most_blocks(departures.messages));
    visit(stage, departures, blocks, at);
    for (const auto& message : departures.messages)
      for (std::uint32_t i = 0; i < message.blocks; ++i) at[departures.order[message.first_block + i]] = message.to;
  }
  visit(-1, Departures{}, blocks, at);
}

RC_GTEST_PROP(EveryStrategy, BringsEveryBlockToItsDestinationExactlyOnce, ()) {
  const auto [layout, pattern] = draw_case();
  for (const auto& strategy : test::strategies_for(layout)) {
    RC_LOG() << to_string(strategy) << ", " << layout.describe() << "\n";
    const auto route = make_route(strategy, layout, pattern);
    for_each_stage(
        *route, strategy, pattern, [&](int stage, const Departures& departures, const auto& blocks, const auto& at) {
          std::set<std::uint32_t> moved;
          for (const auto& message : departures.messages) {
            RC_ASSERT(message.from != message.to);
            RC_ASSERT(message.blocks > 0U);
            Bytes bytes = 0;
            std::set<std::uint32_t> brought;
            for (auto place = message.first_block; place < message.first_block + message.blocks; ++place) {
              const auto block = departures.order[place];
              RC_ASSERT(moved.insert(block).second);
              RC_ASSERT(at[block] == message.from);
              RC_ASSERT(at[block] != blocks[block].destination);  // an arrived block stays
              if (departures.carrier(place) == place) {
                brought.insert(place);
                bytes += blocks[block].bytes;
              } else {  // its bytes come with a block before
                RC_ASSERT(brought.contains(departures.carrier(place)));
                const auto& carrier = blocks[departures.order[departures.carrier(place)]];
                RC_ASSERT(carrier.payload != no_payload);
                RC_ASSERT(
                    std::tuple(carrier.source, carrier.payload, carrier.offset, carrier.bytes) ==
                    std::tuple(blocks[block].source, blocks[block].payload, blocks[block].offset, blocks[block].bytes));
              }
            }
            RC_ASSERT(bytes == message.bytes);
          }
          RC_ASSERT(moved.size() == departures.order.size());
          if (stage < 0)
            for (std::size_t b = 0; b < blocks.size(); ++b) RC_ASSERT(at[b] == blocks[b].destination);
        });
  }
}

RC_GTEST_PROP(EveryStrategy, GivesEveryPairOneMessageARoundThatBothKnow, ()) {
  const auto [layout, pattern] = draw_case();
  for (const auto& strategy : test::strategies_for(layout)) {
    RC_LOG() << to_string(strategy) << ", " << layout.describe() << "\n";
    const auto route = make_route(strategy, layout, pattern), of_receiver = make_route(strategy, layout, pattern);
    const auto schedule = make_schedule(*route, strategy.window, pattern, strategy.coalescing);
    RC_ASSERT(schedule.stages.size() == route->stages().size());
    for (int s = 0; s < static_cast<int>(schedule.stages.size()); ++s) {
      const auto& [info, messages] = schedule.stages[static_cast<std::size_t>(s)];
      const auto& stage = route->stages()[static_cast<std::size_t>(s)];
      const bool has_rounds = stage.rounds > 0, staggered = is_staggered(stage, strategy.coalescing);
      const int rounds_each =
          has_rounds && !messages.empty() ? info.rounds / stage.rounds : 1;  // more than 1 if staggered
      const auto window = window_of(stage, strategy.window);
      std::set<std::tuple<Rank, Rank, int>> pairs;
      for (const auto& message : messages) {
        RC_ASSERT(pairs.insert({message.from, message.to, message.round}).second || (staggered && !has_rounds));
        RC_ASSERT((staggered ? message.blocks == 1U : rounds_each == 1));
        RC_ASSERT(message.round >= (has_rounds ? 1 : 0));
        RC_ASSERT(message.round <= info.rounds);
        RC_ASSERT((has_rounds ? (message.round - 1) / rounds_each + 1 : 0) ==
                  of_receiver->round(message.from, message.to, s));
        RC_ASSERT(message.batch == (window.unlimited() || !has_rounds ? 0 : (message.round - 1) / window.rounds));
      }
      RC_ASSERT(std::ranges::is_sorted(messages, {}, [&](const Message& m) {
        return std::tuple(m.from, m.batch, window.unlimited() && route->sends_large_first() ? -size_class(m.bytes) : 0,
                          window.unlimited() ? of_receiver->turn(m.from, m.to) : 0, m.round, m.to);
      }));
    }
  }
}

RC_GTEST_PROP(EveryStrategy, IsScheduledAsTheReferenceSays, ()) {
  const auto [layout, pattern] = draw_case();
  const auto strategy = draw_strategy(layout);
  RC_LOG() << to_string(strategy) << ", " << layout.describe() << "\n";
  const auto route = make_route(strategy, layout, pattern);
  const auto schedule = make_schedule(*route, strategy.window, pattern, strategy.coalescing);
  const auto reference = test::reference_schedule(*route, pattern, strategy.coalescing);
  RC_ASSERT(schedule.stages.size() == reference.stages.size());
  RC_ASSERT(schedule.buffered_blocks_max == reference.buffered_blocks_max);
  RC_ASSERT(schedule.buffered_bytes_max == reference.buffered_bytes_max);
  for (std::size_t s = 0; s < schedule.stages.size(); ++s) {
    RC_ASSERT(schedule.stages[s].messages.size() == reference.stages[s].size());
    std::map<std::pair<Rank, Rank>, int> position;
    for (const auto& message : schedule.stages[s].messages) {
      const auto expected =
          reference.stages[s].find({message.from, message.to, position[{message.from, message.to}]++});
      RC_ASSERT(expected != reference.stages[s].end());
      RC_ASSERT(message.bytes == expected->second.bytes);
      RC_ASSERT(message.blocks == expected->second.blocks.size());
      RC_ASSERT(message.round == expected->second.round);
      RC_ASSERT(message.packed_pieces == expected->second.packed_pieces);
      RC_ASSERT(message.unpacked_pieces == expected->second.unpacked_pieces);
      RC_ASSERT(message.unpacked_bytes == expected->second.unpacked_bytes);
    }
  }
  // The blocks of each message, in its order.
  for_each_stage(*route, strategy, pattern,
                 [&](int stage, const Departures& departures, const auto& blocks, const auto&) {
                   std::map<std::pair<Rank, Rank>, int> position;
                   for (const auto& message : departures.messages) {
                     std::vector<Block> mine, theirs;
                     for (std::uint32_t i = 0; i < message.blocks; ++i)
                       mine.push_back(blocks[departures.order[message.first_block + i]]);
                     for (const auto b : reference.stages[static_cast<std::size_t>(stage)]
                                             .at({message.from, message.to, position[{message.from, message.to}]++})
                                             .blocks)
                       theirs.push_back(reference.blocks[b]);
                     RC_ASSERT(mine == theirs);
                   }
                 });
  std::vector<Bytes> self(static_cast<std::size_t>(pattern.ranks));
  for (const auto& edge : pattern.edges)
    if (edge.source == edge.destination) self[static_cast<std::size_t>(edge.source)] += edge.bytes;
  RC_ASSERT(schedule.self_bytes == self);
}

RC_GTEST_PROP(SharedPayloads, NeverCostBytesAndNeverChangeMessages, ()) {
  const auto drawn = draw_case();
  const auto strategy = draw_strategy(drawn.layout);
  const auto route = make_route(strategy, drawn.layout, drawn.pattern);
  if (route->cuts()) return;  // chunks are made from bytes, so other bytes have other relays
  RC_LOG() << to_string(strategy) << ", " << drawn.layout.describe() << "\n";
  const auto shared = make_schedule(*route, strategy.window, drawn.pattern, strategy.coalescing);
  const auto alone = make_schedule(*route, strategy.window, test::without_sharing(drawn.pattern), strategy.coalescing);
  RC_ASSERT(shared.buffered_blocks_max == alone.buffered_blocks_max);
  RC_ASSERT(shared.buffered_bytes_max <= alone.buffered_bytes_max);
  for (std::size_t s = 0; s < alone.stages.size(); ++s) {
    const auto &with = shared.stages[s].messages, &without = alone.stages[s].messages;
    RC_ASSERT(with.size() == without.size());
    for (std::size_t m = 0; m < without.size(); ++m) {
      RC_ASSERT(std::tuple(with[m].from, with[m].to, with[m].round, with[m].batch, with[m].blocks) ==
                std::tuple(without[m].from, without[m].to, without[m].round, without[m].batch, without[m].blocks));
      RC_ASSERT(with[m].bytes <= without[m].bytes);
    }
  }
}

RC_GTEST_PROP(SharedPayloads, OfOneEdgeEachChangeNothing, ()) {
  const auto drawn = draw_case();
  const auto alone = test::without_sharing(drawn.pattern);
  auto numbered = alone;
  Payload next = 0;
  for (auto& edge : numbered.edges) edge.payload = next++;
  const auto strategy = draw_strategy(drawn.layout);
  const auto route = make_route(strategy, drawn.layout, alone),
             of_numbered = make_route(strategy, drawn.layout, numbered);
  const auto expected = make_schedule(*route, strategy.window, alone, strategy.coalescing),
             schedule = make_schedule(*of_numbered, strategy.window, numbered, strategy.coalescing);
  RC_ASSERT(schedule.buffered_bytes_max == expected.buffered_bytes_max);
  const auto numbers = [](const Message& m) {
    return std::tuple(m.from, m.to, m.batch, m.bytes, m.packed_pieces, m.unpacked_pieces, m.unpacked_bytes);
  };
  for (std::size_t s = 0; s < expected.stages.size(); ++s)
    RC_ASSERT(std::ranges::equal(schedule.stages[s].messages, expected.stages[s].messages, {}, numbers, numbers));
}

// Exchanges whose receivers know nothing ask a route for the possible peers of each rank.
RC_GTEST_PROP(EveryRouteWithoutTraffic, SendsOnlyBetweenPeersWhichAreMutualAndOfOneGroup, ()) {
  const auto [layout, pattern] = draw_case();
  const auto strategy = draw_strategy(layout);
  const auto route = make_route(strategy, layout, pattern);
  const auto schedule = make_schedule(*route, strategy.window, pattern, strategy.coalescing);
  for (int s = 0; s < static_cast<int>(route->stages().size()); ++s) {
    std::vector<std::vector<Rank>> peers, groups;
    try {
      for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        peers.push_back(route->peers(rank, s));
        groups.push_back(route->group(rank, s));
      }
    } catch (const NotApplicable&) {
      RC_DISCARD("it does not tell");
    }
    RC_LOG() << to_string(strategy) << ", " << layout.describe() << ", stage " << s << "\n";
    const auto are_peers = [&](Rank one, Rank other) {
      return std::ranges::binary_search(peers[static_cast<std::size_t>(one)], other);
    };
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
      const auto& own = peers[static_cast<std::size_t>(rank)];
      RC_ASSERT(std::ranges::is_sorted(own));
      RC_ASSERT(!are_peers(rank, rank));
      const auto& group = groups[static_cast<std::size_t>(rank)];
      RC_ASSERT(std::ranges::is_sorted(group));
      RC_ASSERT(std::ranges::binary_search(group, rank));
      for (const Rank member : group) RC_ASSERT(groups[static_cast<std::size_t>(member)] == group);
      for (const Rank peer : own) {
        RC_ASSERT(are_peers(peer, rank));
        RC_ASSERT(groups[static_cast<std::size_t>(peer)] == groups[static_cast<std::size_t>(rank)]);
      }
    }
    for (const auto& message : schedule.stages[static_cast<std::size_t>(s)].messages)
      RC_ASSERT(are_peers(message.from, message.to));
  }
}

RC_GTEST_PROP(EveryStrategy, TellsTheWayOfABlockAtOnce, ()) {
  const auto [layout, pattern] = draw_case();
  for (const auto& strategy : test::strategies_for(layout)) {
    const auto route = make_route(strategy, layout, pattern);
    if (route->cuts()) continue;  // no block has a way before it is cut
    std::vector<Rank> after(route->stages().size());
    for (const auto& block : blocks_of(pattern)) {
      route->way(block.source, block.destination, after);
      Rank at = block.source;
      for (std::size_t stage = 0; stage < after.size(); ++stage) {
        at = route->next(block, at, static_cast<int>(stage));
        RC_ASSERT(after[stage] == at);
      }
    }
  }
}

RC_GTEST_PROP(AWindow, ChangesBatchesAndNothingElse, ()) {
  const auto drawn = draw_case();
  const auto strategy = draw_strategy(drawn.layout);
  const auto route = make_route(strategy, drawn.layout, drawn.pattern);
  const auto messages = [&](Window window) {
    std::vector<std::multiset<std::tuple<Rank, Rank, int, Bytes, unsigned, unsigned, unsigned, Bytes>>> result;
    for (const auto& stage : make_schedule(*route, window, drawn.pattern, strategy.coalescing).stages) {
      auto& set = result.emplace_back();
      for (const auto& m : stage.messages)
        set.insert({m.from, m.to, m.round, m.bytes, m.blocks, m.packed_pieces, m.unpacked_pieces, m.unpacked_bytes});
    }
    return result;
  };
  RC_ASSERT(messages({1 + draw(10)}) == messages({}));
}

RC_GTEST_PROP(AWindow, CanBeAnotherOneOfAScheduleThatIsThere, ()) {
  const auto drawn = draw_case();
  const auto strategy = draw_strategy(drawn.layout);
  const auto route = make_route(strategy, drawn.layout, drawn.pattern);
  const auto order_of = [](const Schedule& schedule) {
    std::vector<std::tuple<Rank, Rank, int, int, Bytes>> order;
    for (const auto& stage : schedule.stages)
      for (const auto& m : stage.messages) order.emplace_back(m.from, m.to, m.round, m.batch, m.bytes);
    return order;
  };
  const Window few{1 + draw(10)};
  auto schedule = make_schedule(*route, {}, drawn.pattern, strategy.coalescing);
  const auto unlimited = order_of(schedule);
  set_window(*route, schedule, few);
  RC_ASSERT(order_of(schedule) == order_of(make_schedule(*route, few, drawn.pattern, strategy.coalescing)));
  set_window(*route, schedule, {});
  RC_ASSERT(order_of(schedule) == unlimited);
}

// Ranks go from batch to batch; with synchronous sends a message completes when both ends are in its batch.
RC_GTEST_PROP(AWindow, NeverDeadlocksWithSynchronousSends, ()) {
  const auto [layout, pattern] = draw_case();
  const auto strategy = draw_strategy(layout);
  const auto route = make_route(strategy, layout, pattern);
  const auto schedule = make_schedule(*route, {1 + draw(3)}, pattern, strategy.coalescing);
  using Turn = std::pair<std::size_t, int>;  // stage and batch
  std::map<Rank, std::map<Turn, std::multiset<std::tuple<Rank, Rank>>>> open;
  for (std::size_t s = 0; s < schedule.stages.size(); ++s)
    for (const auto& m : schedule.stages[s].messages) {
      open[m.from][{s, m.batch}].insert({m.from, m.to});
      open[m.to][{s, m.batch}].insert({m.from, m.to});
    }
  for (bool progress = true; progress;) {
    progress = false;
    for (auto& [rank, turns] : open) {
      if (turns.empty()) continue;
      const auto turn = turns.begin()->first;
      const auto waiting = turns.begin()->second;
      for (const auto& message : waiting) {
        const auto& [from, to] = message;
        const Rank other = from == rank ? to : from;
        if (open[other].empty() || open[other].begin()->first != turn) continue;
        for (const Rank end : {rank, other}) {
          auto& first = open[end].begin()->second;
          first.erase(first.find(message));
        }
        if (open[other].begin()->second.empty()) open[other].erase(open[other].begin());
        progress = true;
      }
      if (turns.begin()->second.empty()) turns.erase(turns.begin());
    }
  }
  for (const auto& [rank, turns] : open) RC_ASSERT(turns.empty());
}

RC_GTEST_PROP(FlatAddresses, HoldLessThanTwiceTheBlocksOfAllRanks, ()) {
  const int ranks = 2 + draw(most_ranks - 1);
  Pattern pattern{ranks, {}};  // one block a pair at most
  for (Rank i = 0; i < ranks; ++i)
    for (Rank j = 0; j < ranks; ++j)
      if (draw(3) > 0) pattern.edges.push_back({i, j, 1 + draw(9)});
  const auto layout = Layout::with_ppn(ranks, 1);
  const int n = 1 + draw(stfw_most_dimensions(ranks));
  const auto schedule = test::schedule_of("stfw,n=" + std::to_string(n), layout, pattern);
  RC_ASSERT(schedule.buffered_blocks_max < 2 * ranks);
  std::int64_t full = 1;
  int bound = 0;
  for (const auto& stage : schedule.stages) {
    full *= stage.info.rounds + 1;
    bound += stage.info.rounds;
  }
  if (full == ranks) RC_ASSERT(schedule.buffered_blocks_max <= ranks - 1);
  std::map<Rank, int> sent, received;
  for (const auto& stage : schedule.stages)
    for (const auto& message : stage.messages) {
      ++sent[message.from];
      ++received[message.to];
    }
  for (const auto* counts : {&sent, &received})
    for (const auto& [rank, count] : *counts) RC_ASSERT(count <= (full == ranks ? bound : 2 * bound));
}

RC_GTEST_PROP(Tuna, HoldsNoMoreThanItsBuffer, ()) {
  const int ranks = 2 + draw(most_ranks - 1), radix = 2 + draw(ranks - 1);
  const auto schedule = test::schedule_of("tuna,radix=" + std::to_string(radix), Layout::with_ppn(ranks, 1 + draw(5)),
                                          test::alltoall(ranks, 1 + draw(100)));
  RC_ASSERT(schedule.buffered_blocks_max <= tuna_buffer_blocks(ranks, radix));
}

TEST(TheRouteOfTheDocuments, BringsBlocksToTheirNodesAndThenToTheirDestinations) {
  const auto row = spread_row();
  for (const int ppn : {1, 4, 5, 11}) {
    const auto layout = Layout::with_ppn(11, ppn);  // uneven
    const auto route = row.make({row.name, {}, {}}, layout, {});
    EXPECT_EQ(row.suggest(layout).empty(), layout.nodes() == 1 || ppn == 1);
    std::vector<Rank> after(route->stages().size());
    for (Rank source = 0; source < 11; ++source)
      for (Rank destination = 0; destination < 11; ++destination) {
        if (source == destination) continue;
        route->way(source, destination, after);
        EXPECT_EQ(after.back(), destination);
        EXPECT_TRUE(after.front() == source || layout.node(after.front()) == layout.node(destination));
      }
  }
}

}  // namespace
}  // namespace commpass
