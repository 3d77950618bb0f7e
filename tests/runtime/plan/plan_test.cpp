// Plans: their bytes in transit, and that they run the priced schedule.
#include "runtime/plan/planning.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "model/route/catalogue.hpp"
#include "model/route/distance_route.hpp"
#include "model/route/routes/stfw.hpp"
#include "model/schedule/schedule.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/naive_exchange.hpp"
#include "runtime/plan/headers.hpp"
#include "runtime/plan/planner.hpp"
#include "runtime/plan/transposed_plan.hpp"

namespace commpass {
namespace {

class RankPlan : public testing::Test {
 protected:
  Rank rank() const { return comm_.rank(); }
  int ranks() const { return comm_.size(); }

  Plan plan(const Strategy& strategy, const Layout& layout, const Pattern& pattern, int gap = 0) {
    const auto local = test::local_part(pattern, rank(), gap, 1);
    return make_plan(comm_.get(), *make_route(strategy, layout, pattern), strategy.window, local.sends, local.receives,
                     strategy.coalescing);
  }

  Pattern alltoall(Bytes bytes) const {
    Pattern pattern{ranks(), {}};
    for (Rank i = 0; i < ranks(); ++i)
      for (Rank j = 0; j < ranks(); ++j)
        if (i != j) pattern.edges.push_back({i, j, bytes});
    return pattern;
  }

  /// Bytes in transit in an all-to-all, as blocks.
  double transit_blocks(const std::string& strategy) {
    constexpr Bytes bytes = 24;
    return static_cast<double>(
               plan(parse_strategy(strategy), Layout::with_ppn(ranks(), 1), alltoall(bytes)).transit_bytes) /
           bytes;
  }

 private:
  OwnCommunicator comm_{MPI_COMM_WORLD};
};

/// All ways to write `count` as a product of two or more factors, lowest digit first.
std::vector<std::string> factorisations(int count, int least_factors = 2) {
  std::vector<std::string> result;
  if (least_factors <= 1) result.push_back(std::to_string(count));
  for (int factor = 2; factor * 2 <= count; ++factor) {
    if (count % factor != 0) continue;
    for (const auto& rest : factorisations(count / factor, 1)) result.push_back(std::to_string(factor) + "x" + rest);
  }
  return result;
}

TEST_F(RankPlan, OfStandardNeedsNoTransit) {
  for (const auto* strategy : {"standard", "standard,window=1"}) EXPECT_EQ(transit_blocks(strategy), 0) << strategy;
}

/// Blocks in the largest message of an all-to-all.
std::int64_t largest_message(const Route& route, Rank rank) {
  std::int64_t largest = 0;
  for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage)
    for (const auto& message : route.uniform_messages(rank, stage)) largest = std::max(largest, message.blocks);
  return largest;
}

// The papers bound blocks. In memory, a message needs one contiguous place; from three digits on, the free places may
// be too small for it, so the bound here allows one message more.
TEST_F(RankPlan, OfFullStfwAddressesHoldsLessThanABlockOfEveryRank) {
  for (const auto& dimensions : factorisations(ranks())) {
    const auto route = make_route(parse_strategy("stfw,dims=" + dimensions), Layout::with_ppn(ranks(), 1));
    const auto in_pieces = route->stages().size() > 2 ? largest_message(*route, rank()) : 0;
    EXPECT_LE(transit_blocks("stfw,dims=" + dimensions), static_cast<double>(ranks() - 1 + in_pieces)) << dimensions;
  }
}

TEST_F(RankPlan, OfOtherStfwAddressesHoldsLessThanTwice) {
  for (int n = 2; n <= stfw_most_dimensions(ranks()); ++n) {
    const auto strategy = "stfw,n=" + std::to_string(n);
    const auto route = make_route(parse_strategy(strategy), Layout::with_ppn(ranks(), 1));
    const auto in_pieces = route->stages().size() > 2 ? largest_message(*route, rank()) : 0;
    EXPECT_LT(transit_blocks(strategy), static_cast<double>(2 * ranks() + in_pieces)) << n;
  }
}

TEST_F(RankPlan, OfTunaHoldsItsBufferAndTheRoundThatArrives) {
  for (int radix = 2; radix <= ranks(); ++radix) {
    const auto largest_round = largest_message(DistanceRoute(ranks(), radix), rank());
    const int buffer = tuna_buffer_blocks(ranks(), radix);
    const double held = transit_blocks("tuna,radix=" + std::to_string(radix));
    constexpr double in_pieces = 1.25;  // see above; a block of 11 on 12 ranks
    EXPECT_LE(held, in_pieces * (static_cast<double>(buffer) + static_cast<double>(largest_round)))
        << "radix " << radix;
    EXPECT_TRUE(buffer > 0 || held == 0) << "radix " << radix;
  }
}

/// Bytes that a plan receives from others.
Bytes received(const Plan& plan) {
  Bytes sum = 0;
  for (const auto& batch : plan.batches)
    for (const auto& message : batch.receives) sum += message.bytes;
  return sum;
}

TEST_F(RankPlan, OfAnAllgatherReceivesAndHoldsEveryBlockOnce) {
  constexpr Bytes bytes = 24;
  auto pattern = alltoall(bytes);
  for (auto& edge : pattern.edges) edge.payload = 0;
  for (const auto& dimensions : factorisations(ranks())) {
    const auto mine = plan(parse_strategy("stfw,dims=" + dimensions), Layout::with_ppn(ranks(), 1), pattern);
    EXPECT_EQ(received(mine), (ranks() - 1) * bytes) << dimensions;
    EXPECT_LE(mine.transit_bytes, (ranks() - 1) * bytes) << dimensions;
    // Of two digits, what the first brings is held until it has left for the last of k ranks; what the second brings
    // lands where it belongs.
    const auto separator = dimensions.find('x');
    if (dimensions.find('x', separator + 1) != std::string::npos) continue;
    EXPECT_EQ(mine.transit_bytes, (std::stoi(dimensions.substr(0, separator)) - 1) * bytes) << dimensions;
  }
}

// Rank 1 receives bytes and forwards them to rank 3: they must have a place in transit.
TEST_F(RankPlan, LeavesNoMessageInPiecesOfWhichAPartIsSentOn) {
  constexpr Bytes bytes = 64;
  if (ranks() != 4) GTEST_SKIP() << "two digits of two ranks";
  auto pattern = Pattern{4, {{0, 1, bytes}, {0, 3, bytes}}};
  for (auto& edge : pattern.edges) edge.payload = 0;
  const auto mine = plan(parse_strategy("stfw,dims=2x2"), Layout::with_ppn(4, 1), pattern);
  if (rank() != 1) return;
  ASSERT_FALSE(mine.batches.empty());
  ASSERT_EQ(mine.batches.front().receives.size(), 1U);
  const auto& message = mine.batches.front().receives.front();
  EXPECT_EQ(message.bytes, bytes) << "they come once";
  EXPECT_EQ(message.pieces.size(), 1U);
  EXPECT_FALSE(message.may_stay_in_pieces());
}

TEST_F(RankPlan, RunsTheMessagesThatArePriced) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const auto layout = test::random_layout(ranks(), seed);
    auto pattern = test::random_pattern(ranks(), seed + 100);
    if (seed % 2 == 0) pattern = test::with_shared_payloads(pattern, seed);
    auto strategies = suggest_strategies(layout);
    for (const auto* text : {"split,cap=500", "split,cap=2000,staggered", "three-step,staggered", "two-step,staggered"})
      strategies.push_back(parse_strategy(text));
    for (auto strategy : strategies)
      for (const int window : {strategy.window.rounds, 2}) {
        strategy.window = {window};
        if (!catalogue_row(strategy.route).malformed(strategy).empty()) continue;
        SCOPED_TRACE(to_string(strategy) + ", " + layout.describe());
        const auto mine = plan(strategy, layout, pattern);
        const auto schedule =
            make_schedule(*make_route(strategy, layout, pattern), strategy.window, pattern, strategy.coalescing);
        // By stage, peer and bytes; and the pieces copied in each stage.
        using Key = std::tuple<int, Rank, Bytes>;
        std::multiset<Key> sends, receives, priced_sends, priced_receives;
        std::map<int, std::uint64_t> packed, unpacked, priced_packed, priced_unpacked;
        std::map<int, int> in_pieces, priced_in_pieces;  // of which a datatype may be made
        for (const auto& batch : mine.batches) {
          const auto add = [&](const std::vector<PlannedMessage>& messages, auto& keys, auto& pieces) {
            for (const auto& message : messages) {
              keys.insert({batch.stage, message.peer, message.bytes});
              pieces[batch.stage] += message.pieces.size();
              in_pieces[batch.stage] += message.may_stay_in_pieces();
            }
          };
          add(batch.sends, sends, packed);
          add(batch.receives, receives, unpacked);
        }
        for (int s = 0; s < static_cast<int>(schedule.stages.size()); ++s)
          for (const auto& message : schedule.stages[static_cast<std::size_t>(s)].messages) {
            if (message.from == rank()) {
              priced_sends.insert({s, message.to, message.bytes});
              priced_packed[s] += message.packed_pieces;
              priced_in_pieces[s] += message.is_all_from_sender && message.packed_pieces > 0;
            }
            if (message.to == rank()) {
              priced_receives.insert({s, message.from, message.bytes});
              priced_unpacked[s] += message.unpacked_pieces;
              priced_in_pieces[s] += message.is_all_for_receiver && message.unpacked_pieces > 0;
            }
          }
        EXPECT_EQ(sends, priced_sends);
        EXPECT_EQ(receives, priced_receives);
        // Edges to oneself lie between the others in these buffers, which may cost a piece on either side.
        std::uint64_t self_edges = 0;
        for (const auto& edge : pattern.edges)
          self_edges += edge.source == rank() && edge.destination == rank() && edge.bytes > 0;
        const std::uint64_t allowed = self_edges > 0 ? 1 : 0;
        for (int s = 0; s < static_cast<int>(schedule.stages.size()); ++s) {
          EXPECT_LE(packed[s], priced_packed[s] + 2 * allowed) << "stage " << s;
          EXPECT_TRUE(in_pieces[s] == priced_in_pieces[s] || allowed > 0) << "stage " << s;
          EXPECT_LE(unpacked[s], priced_unpacked[s] + 2 * allowed) << "stage " << s;
          EXPECT_GE(unpacked[s] + 2 * allowed, priced_unpacked[s]) << "stage " << s;
        }
      }
  }
}

TEST_F(RankPlan, RunBackwardsRunsTheTransposedMessagesThatArePriced) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const auto layout = test::random_layout(ranks(), seed);
    auto pattern = test::with_shared_payloads(test::random_pattern(ranks(), seed + 100), seed);
    std::erase_if(pattern.edges, [](const Edge& edge) { return edge.source == edge.destination; });
    pattern.added_value_bytes = 1;
    auto strategies = suggest_strategies(layout);
    for (const auto* text : {"split,cap=500", "three-step,staggered", "two-step,window=2"})
      strategies.push_back(parse_strategy(text));
    for (const auto& strategy : strategies) {
      SCOPED_TRACE(to_string(strategy) + ", " + layout.describe());
      const auto mine = plan(strategy, layout, pattern);
      const auto back = transposed(mine);
      const auto there =
          make_schedule(*make_route(strategy, layout, pattern), strategy.window, pattern, strategy.coalescing);
      const auto schedule = transposed(there);
      using Key = std::tuple<int, int, Rank, Rank, Bytes>;  // stage from the last one, batch, ends, bytes
      std::multiset<Key> run, priced;
      std::map<int, std::map<int, int>> batch_of;  // by stage: those of this rank, in their order
      Bytes added = 0, delivered = 0;
      for (int s = 0; s < static_cast<int>(schedule.stages.size()); ++s)
        for (const auto& m : schedule.stages[static_cast<std::size_t>(s)].messages) {
          if (m.from != rank() && m.to != rank()) continue;
          batch_of[s][m.batch];
          priced.insert({s, m.batch, m.from, m.to, m.bytes});
        }
      std::map<int, int> batches;
      for (std::size_t b = 0; b < back.plan.batches.size(); ++b) {
        const auto& batch = back.plan.batches[b];
        const int s = static_cast<int>(schedule.stages.size()) - 1 - batch.stage;
        const int number = std::next(batch_of[s].begin(), batches[s]++)->first;
        for (const auto& m : batch.sends) run.insert({s, number, rank(), m.peer, m.bytes});
        for (const auto& m : batch.receives) run.insert({s, number, m.peer, rank(), m.bytes});
        for (const auto& copy : back.sums[b].after.additions) added += copy.bytes;
        for (const auto& m : mine.batches[b].sends) delivered += m.bytes;
      }
      EXPECT_EQ(run, priced);
      Bytes received_back = 0;
      for (const auto& batch : back.plan.batches)
        for (const auto& m : batch.receives) received_back += m.bytes;
      EXPECT_EQ(received_back, delivered) << "each message comes back";
      EXPECT_LE(added, received_back);
      EXPECT_EQ(schedule.buffered_bytes_max, there.buffered_bytes_max);
    }
  }
}

// By hand: rank 0 sends the same bytes to 1, 2 and 3 by way of 1 for 3.
TEST_F(RankPlan, RunBackwardsAddsWhereContributionsMeet) {
  constexpr Bytes bytes = 64;
  if (ranks() != 4) GTEST_SKIP() << "two digits of two ranks";
  auto pattern = Pattern{4, {{0, 1, bytes}, {0, 2, bytes}, {0, 3, bytes}}, 8};
  for (auto& edge : pattern.edges) edge.payload = 0;
  const auto back = transposed(plan(parse_strategy("stfw,dims=2x2"), Layout::with_ppn(4, 1), pattern));
  Bytes copied = 0, added = 0, sent = 0;
  for (std::size_t b = 0; b < back.plan.batches.size(); ++b) {
    for (const auto& message : back.plan.batches[b].sends) sent += message.bytes;
    for (const auto* sums : {&back.sums[b].before, &back.sums[b].after}) {
      for (const auto& copy : sums->copies) copied += copy.bytes;
      for (const auto& copy : sums->additions) added += copy.bytes;
    }
  }
  EXPECT_EQ(sent, rank() == 0 ? 0 : bytes);
  // What rank 3 sends is received where it is added up, on rank 1 beside that rank's own, as is the first sum on 0.
  EXPECT_EQ(added, rank() <= 1 ? bytes : 0);
  EXPECT_EQ(copied, 0);
}

// Local, so one rank is enough.
TEST_F(RankPlan, OfVeryManyBatchesNeedsNoOtherRanks) {
  if (rank() > 0) return;
  constexpr int many = 20000;
  constexpr Bytes bytes = 8;
  const auto route = make_route(parse_strategy("standard"), Layout::with_ppn(many, 1));
  const RouteOfRank own{*route, {1}, Coalescing::coalesced, 7, many};
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  for (Rank peer = 0; peer < many; ++peer)
    if (peer != own.rank) {
      sends.push_back({peer, peer * bytes, bytes});
      receives.push_back({peer, peer * bytes, bytes});
    }
  ExpectedHeaders expected(own.rank, receives);
  const auto mine = plan_alone(own, sends, receives, std::ref(expected));
  ASSERT_EQ(mine.batches.size(), many - 1);
  for (int i = 0; i < many - 1; ++i) {
    const auto& [stage, arriving, leaving] = mine.batches[static_cast<std::size_t>(i)];
    ASSERT_EQ(leaving.size(), 1U);
    ASSERT_EQ(arriving.size(), 1U);
    ASSERT_EQ(leaving[0].peer, (own.rank + 1 + i) % many) << "pairwise";
    ASSERT_EQ(arriving[0].peer, (own.rank - 1 - i + many) % many);
    ASSERT_EQ(leaving[0].place.offset, leaving[0].peer * bytes);
    ASSERT_EQ(arriving[0].place.offset, arriving[0].peer * bytes);
  }
}

/// The mismatch of all ranks of a pattern, in which each expects what `expected` says.
std::uint64_t mismatch_of(const Pattern& sent, const Pattern& expected) {
  const auto route = make_route(parse_strategy("standard"), Layout::with_ppn(sent.ranks, 1));
  std::uint64_t sum = 0;
  for (Rank rank = 0; rank < sent.ranks; ++rank) {
    const auto receives = test::local_part(expected, rank, 0, 1).receives;
    ExpectedHeaders headers(rank, receives);
    plan_alone({*route, {}, Coalescing::coalesced, rank, sent.ranks}, test::local_part(sent, rank, 0, 1).sends,
               receives, std::ref(headers));
    sum += headers.mismatch();
  }
  return sum;
}

TEST(ExpectedHeaders, OfAllRanksTogetherTellAnyEdgesThatDoNotMatch) {
  for (unsigned seed = 1; seed <= 7; ++seed) {
    const auto pattern = test::random_pattern(1 + static_cast<int>(seed), seed);
    EXPECT_EQ(mismatch_of(pattern, pattern), 0U);
    for (std::size_t i = 0; i < pattern.edges.size(); ++i) {
      const auto& edge = pattern.edges[i];
      if (edge.bytes == 0 || edge.source == edge.destination) continue;
      auto larger = pattern, redirected = pattern, fewer = pattern;
      larger.edges[i].bytes += 1;
      redirected.edges[i].destination = (edge.destination + 1) % pattern.ranks;
      fewer.edges.erase(fewer.edges.begin() + static_cast<std::ptrdiff_t>(i));
      for (const auto* other : {&larger, &fewer}) {
        EXPECT_NE(mismatch_of(pattern, *other), 0U) << "seed " << seed << ", edge " << i;
        EXPECT_NE(mismatch_of(*other, pattern), 0U) << "seed " << seed << ", edge " << i;
      }
      if (redirected.edges[i].destination != edge.source) {
        EXPECT_NE(mismatch_of(pattern, redirected), 0U) << "seed " << seed << ", edge " << i;
      }
    }
  }
  const Pattern ordered{2, {{0, 1, 8}, {0, 1, 16}}}, swapped{2, {{0, 1, 16}, {0, 1, 8}}};
  EXPECT_NE(mismatch_of(ordered, swapped), 0U) << "the k-th edge of one is that of the other";
}

}  // namespace
}  // namespace commpass
