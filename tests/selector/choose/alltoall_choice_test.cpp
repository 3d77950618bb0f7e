#include "selector/choose/alltoall_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/base/error.hpp"
#include "model/cost/equal_blocks.hpp"
#include "model/pattern/generate.hpp"
#include "model/route/catalogue.hpp"
#include "model/support.hpp"
#include "selector/choose/exchange_class.hpp"
#include "selector/choose/library_price.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {
namespace {

/// Messages of all sizes cost a latency and their bytes, everywhere the same.
Machine postal_machine() {
  Machine machine;
  machine.name = "postal";
  machine.host.by_level[standard_level::network] =
      Channel{{Protocol{"all", std::numeric_limits<Bytes>::max(), 1e-5, 1e-9, 1e-5}}};
  return machine;
}

Strategy tuna(int radix) { return {"tuna", {{"radix", {radix}}}, {1}}; }

Seconds seconds_of(const Strategy& strategy, Bytes bytes, const Layout& layout) {
  return price_one_shot(strategy, test::equal_blocks(bytes), layout, postal_machine()).cost.seconds;
}

constexpr int ranks = 256, root = 16;

int best_radix(Bytes bytes, const Layout& layout) {
  int best = 2;
  Seconds least = std::numeric_limits<Seconds>::infinity();
  for (const int radix : {2, 3, 4, 6, 8, 12, root, 24, 32, 64, 128, ranks}) {
    const auto seconds = seconds_of(tuna(radix), bytes, layout);
    if (seconds >= least) continue;
    least = seconds;
    best = radix;
  }
  return best;
}

// TuNA paper §V-A, figure 7: the time grows with the radix for small blocks, has its least in between, or falls.
TEST(OneShot, TheBestRadixGrowsWithTheBlocks) {
  const auto layout = Layout::with_ppn(ranks, 1);
  EXPECT_LE(best_radix(8, layout), 4);
  EXPECT_EQ(best_radix(1024, layout), root);
  EXPECT_EQ(best_radix(1 << 20, layout), ranks);
  int before = 2;
  for (Bytes bytes = 1; bytes <= 1 << 20; bytes *= 4) {
    const int best = best_radix(bytes, layout);
    EXPECT_GE(best, before) << bytes;
    before = best;
  }
}

TEST(OneShot, CostsTheTellingOfSizesWhereBlocksAreForwarded) {
  const auto layout = Layout::with_ppn(ranks, 1);
  const auto planned = [&](const Strategy& strategy) {
    return price_alltoall(strategy, 1024, layout, postal_machine()).cost.seconds;
  };
  EXPECT_GT(seconds_of(tuna(2), 1024, layout), planned(tuna(2)));
  EXPECT_EQ(seconds_of(tuna(ranks), 1024, layout), planned(tuna(ranks)))
      << "one stage: every block comes from its source";
  EXPECT_EQ(seconds_of(parse_strategy("standard"), 1024, layout), planned(parse_strategy("standard")));
}

// Of 16 ranks with radix 4 each tells three others four sizes, all at once, before the blocks go one message after
// another.
TEST(OneShot, TellsTheSizesOfAllRoundsAtOnce) {
  constexpr Seconds alpha = 1e-5, alpha_next = 1e-6;
  constexpr double beta = 1e-9;
  auto machine = postal_machine();
  machine.host.by_level[standard_level::network]->protocols.front().alpha_next_s = alpha_next;
  const auto sixteen = Layout::with_ppn(16, 1);
  const auto once = price_one_shot(tuna(4), test::equal_blocks(1024), sixteen, machine).cost.seconds,
             planned = price_alltoall(tuna(4), 1024, sixteen, machine).cost.seconds;
  EXPECT_NEAR(once - planned, alpha + 2 * alpha_next + 3 * beta * 4 * 8, 1e-12);
  EXPECT_NEAR(planned, 2 * 3 * (alpha + beta * 4 * 1024), 1e-12) << "the window is for the blocks";
}

TEST(OneShot, OfNothingStillTellsSizes) {
  const auto layout = Layout::with_ppn(ranks, 1);
  EXPECT_GT(seconds_of(tuna(2), 0, layout), 0);
}

// Where few pairs have blocks, a direct exchange has few messages, and gathering them does not pay.
TEST(OneShot, IsChosenByHowManyPairsHaveBlocks) {
  const auto layout = Layout::with_ppn(64, 8);
  auto machine = postal_machine();
  machine.host.by_level[standard_level::socket] =
      Channel{{Protocol{"all", std::numeric_limits<Bytes>::max(), 1e-6, 1e-10, 1e-6}}};
  const auto best = [&](const RandomPattern& blocks) {
    return to_string(rank_one_shot(blocks, layout, machine).front().strategy);
  };
  EXPECT_NE(best({1, 1, 64}), "standard");
  EXPECT_EQ(best({0.01, 0.01, 64}), "standard");
  EXPECT_EQ(best({0, 0, 0}), "standard");
}

TEST(OneShot, GoesThroughMemoryOfANodeWhereThatIsCheaper) {
  const auto layout = Layout::with_ppn(8, 8);
  auto machine = postal_machine();
  const auto channel = [](Seconds of_message) {
    return Channel{{Protocol{"all", std::numeric_limits<Bytes>::max(), of_message, 1e-10, of_message}}};
  };
  machine.host.by_level[standard_level::socket] = channel(1e-6);
  for (const Seconds pushed : {0.5e-6, 2e-6}) {
    machine.shared.by_level[standard_level::socket] = channel(pushed);
    const auto ranking = rank_one_shot(test::equal_blocks(64), layout, machine, CostModel::burst, {}, BlockSizes::told,
                                       RankingDepth::all, offered_paths(DataPlace::host, layout, machine));
    EXPECT_EQ(ranking.front().strategy.path.is_shared, pushed < 1e-6) << to_string(ranking.front().strategy);
  }
}

TEST(OneShot, HasAPriceAtTheLargestSizes) {
  const auto layout = Layout::with_ppn(ranks, 1);
  const RandomPattern blocks{1e-300, 1, 1e300};
  EXPECT_EQ(class_of_full(blocks.block_bytes), class_of_full(priced_in_call(blocks, ranks).block_bytes));
  EXPECT_GT(price_one_shot(tuna(2), priced_in_call(blocks, ranks), layout, postal_machine()).cost.seconds, 0);
}

// Then a route with several stages costs what it costs when it is planned.
TEST(OneShot, TellsNothingWhereAllKnowTheSizes) {
  const auto layout = Layout::with_ppn(ranks, 1);
  const auto machine = postal_machine();
  for (const int radix : {2, 16, ranks})
    EXPECT_EQ(price_one_shot(tuna(radix), test::equal_blocks(64), layout, machine, CostModel::burst, BlockSizes::equal)
                  .cost.seconds,
              price_alltoall(tuna(radix), 64, layout, machine).cost.seconds);
}

TEST(OneShot, RanksStrategiesWithoutAPatternByTheCost) {
  const auto layout = Layout::with_ppn(64, 8);
  auto machine = postal_machine();
  machine.host.by_level[standard_level::socket] = machine.host.by_level[standard_level::network];
  const auto ranking = rank_one_shot(test::equal_blocks(64), layout, machine);
  ASSERT_GT(ranking.size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(ranking, {}, [](const Candidate& c) { return c.cost.seconds; }));
  for (const auto& candidate : ranking) {
    EXPECT_EQ(pattern_need(candidate.strategy), PatternNeed::nothing) << to_string(candidate.strategy);
    EXPECT_EQ(price_one_shot(candidate.strategy, test::equal_blocks(64), layout, machine).cost.seconds,
              candidate.cost.seconds)
        << to_string(candidate.strategy);
  }
  const Strategy given[] = {tuna(8), parse_strategy("standard,window=4")};
  EXPECT_EQ(rank_one_shot(test::equal_blocks(64), layout, machine, CostModel::burst, given).size(), 2U);
}

TEST(OneShot, IsLeftToTheLibraryByThePriceOfItsAlltoallv) {
  const auto layout = Layout::with_ppn(64, 1);
  const auto mpi = parse_strategy("mpi"), standard = parse_strategy("standard");
  auto machine = postal_machine();
  machine.operations.neighbor_alltoall_s = -1;  // of another collective
  const auto has_mpi = [&](const std::vector<Candidate>& ranking) {
    return std::ranges::find(ranking, mpi, &Candidate::strategy) != ranking.end();
  };
  EXPECT_FALSE(has_mpi(rank_one_shot(test::equal_blocks(64), layout, machine)));
  machine.operations.alltoallv_s = 2e-6;
  machine.operations.alltoallv_message_s = -1e-8;
  const auto seconds = [&](const Strategy& strategy) {
    return price_one_shot(strategy, test::equal_blocks(64), layout, machine).cost.seconds;
  };
  EXPECT_NEAR(seconds(mpi), seconds(standard) + 2e-6 - 126 * 1e-8, 1e-12) << "63 messages go and 63 come";
  EXPECT_TRUE(has_mpi(rank_one_shot(test::equal_blocks(64), layout, machine)));
  machine.operations.alltoallv_s = -1;
  EXPECT_EQ(rank_one_shot(test::equal_blocks(64), layout, machine).front().strategy, mpi);
}

// MPICH has 32 messages in flight at a time. With few peers that does not show, and a profile from few ranks says that
// its call is as fast as sending directly.
TEST(OneShot, OfMoreRanksThanTheLibraryWasMeasuredWithIsPricedInItsBatches) {
  const auto layout = Layout::with_ppn(128, 1);
  const auto mpi = parse_strategy("mpi");
  auto machine = postal_machine();
  machine.host.by_level[standard_level::network]->protocols.front().alpha_next_s = 1e-6;
  machine.operations.alltoallv_s = machine.operations.alltoallv_message_s = 0;
  machine.verdict = Verdict{Trust::good, 0.01, {}, {}};
  RandomPattern few{0, 4.0 / 127, 64};
  few.is_even = true;
  const auto seconds = [&](const char* strategy) {
    return price_one_shot(parse_strategy(strategy), few, layout, machine).cost.seconds;
  };
  machine.operations.ranks = 32;
  EXPECT_EQ(seconds("mpi"), seconds("standard,window=32"));
  EXPECT_GT(seconds("mpi"), 1.2 * seconds("standard"));
  EXPECT_NE(rank_one_shot(few, layout, machine).front().strategy, mpi);
  machine.operations.ranks = 128;
  EXPECT_EQ(seconds("mpi"), seconds("standard"));
  EXPECT_EQ(rank_one_shot(few, layout, machine).front().strategy, mpi) << "the simplest of those with the same cost";
}

// MPI_Alltoall combines small blocks. Before and after, each of 64 ranks turns its blocks of 8 bytes in memory: 512
// bytes in 2 pieces and in 64.
TEST(OneShot, OfEqualSmallBlocksIsCombinedByTheLibrary) {
  const auto layout = Layout::with_ppn(64, 1);
  auto machine = postal_machine();
  machine.operations.alltoallv_s = 0;
  machine.copy_rate_bytes_per_s = 1e9;
  machine.copy_block_s = 1e-8;
  const auto seconds = [&](const std::string& strategy, Bytes bytes, BlockSizes sizes) {
    return price_one_shot(parse_strategy(strategy), test::equal_blocks(bytes), layout, machine, CostModel::burst, sizes)
        .cost.seconds;
  };
  EXPECT_NEAR(seconds("mpi", 8, BlockSizes::equal),
              seconds("tuna,radix=2", 8, BlockSizes::equal) + 2 * 512e-9 + 66 * 1e-8, 1e-12);
  EXPECT_EQ(seconds("mpi", 8, BlockSizes::told), seconds("standard", 8, BlockSizes::told)) << "by MPI_Alltoallv";
  EXPECT_EQ(seconds("mpi", 257, BlockSizes::equal), seconds("standard,window=32", 257, BlockSizes::equal));
}

TEST(OneShot, OfEqualBlocksHasNothingOfTheMeasuredAlltoallv) {
  const auto layout = Layout::with_ppn(64, 1);
  auto machine = postal_machine();
  machine.operations.ranks = 16;
  for (const Bytes bytes : {8, 257, 100000}) {
    const auto seconds = [&](Seconds alltoallv_s) {
      machine.operations.alltoallv_s = alltoallv_s;
      return price_one_shot(parse_strategy("mpi"), test::equal_blocks(bytes), layout, machine, CostModel::burst,
                            BlockSizes::equal)
          .cost.seconds;
    };
    EXPECT_EQ(seconds(-1e-6), seconds(1e-3)) << bytes;
  }
}

Candidate price_library(const RandomPattern& blocks, const Layout& layout, const Machine& machine,
                        BlockSizes sizes = BlockSizes::told) {
  return price_one_shot(parse_strategy("mpi"), blocks, layout, machine, CostModel::burst, sizes);
}

TEST(TheLibrarysAlltoallv, ThatWasNotMeasuredIsPricedByItsAlgorithm) {
  const auto layout = Layout::with_ppn(300, 1);
  auto machine = postal_machine();
  machine.host.by_level[standard_level::network]->protocols.front().alpha_next_s = 1e-6;
  const auto seconds = [&](const char* strategy) {
    return price_one_shot(parse_strategy(strategy), test::equal_blocks(64), layout, without_limits(machine))
        .cost.seconds;
  };
  for (const auto& [library, strategy] :
       {std::pair("MPICH Version: 4.0.2", "standard,window=32"), std::pair("Open MPI v4.1.4", "standard,window=1"),
        std::pair("MVAPICH2 2.3.7", "standard,window=32"),
        std::pair("CRAY MPICH version 8.1.30", "standard,window=8")}) {
    machine.mpi_library = library;
    EXPECT_EQ(price_library(test::equal_blocks(64), layout, machine).cost.seconds, seconds(strategy)) << library;
  }
}

// 2.4 ms were measured on 1024 ranks with 8 partners each.
TEST(TheLibrarysAlltoallv, VisitsRanksWithoutABlock) {
  const auto layout = Layout::with_ppn(1024, 32);
  auto machine = postal_machine();
  machine.host.by_level[standard_level::socket] = machine.host.by_level[standard_level::network];
  RandomPattern blocks{8.0 / 1023, 8.0 / 1023, 64};
  blocks.is_even = true;
  constexpr Seconds measured_s = 2.4e-3;
  for (const char* library : {"", "MPICH 4.0", "Open MPI v4.1.5", "Spectrum MPI 10.3"}) {
    machine.mpi_library = library;
    machine.operations.alltoallv_rank_s = std::nullopt;
    const auto told_by_rules = price_library(blocks, layout, machine).cost.seconds;
    machine.operations.alltoallv_rank_s = 2.3e-6;
    const auto told = price_library(blocks, layout, machine).cost.seconds;
    EXPECT_GT(told, measured_s / 2) << library;
    EXPECT_LT(told, measured_s * 2) << library;
    machine.operations.alltoallv_rank_s = 0;
    EXPECT_NEAR(told - price_library(blocks, layout, machine).cost.seconds, 1015 * 2.3e-6, 1e-9) << library;
    EXPECT_GT(told_by_rules, measured_s / 2) << library;
  }
}

TEST(TheLibrarysAlltoallv, ExchangesEmptyMessagesWhereItIsPairwise) {
  const auto layout = Layout::with_ppn(300, 1);
  auto machine = postal_machine();
  machine.mpi_library = "Open MPI 4.1.5";
  const auto sparse = price_library({0, 4.0 / 299, 64}, layout, machine);
  EXPECT_TRUE(sparse.library->exchanges_nothing);
  const auto full = price_one_shot(parse_strategy("standard,window=1"), {1, 1, 64 * 4.0 / 299}, layout, machine);
  EXPECT_NEAR(sparse.cost.seconds, full.cost.seconds, 1e-12);
}

TEST(TheLibrarysAlltoallv, OnMoreRanksThanItWasMeasuredWithVisitsTheOthers) {
  auto machine = postal_machine();
  machine.operations.alltoallv_s = 1e-6;
  machine.operations.ranks = 16;
  const auto seconds = [&](int all) {
    return price_library({0, 4.0 / (all - 1), 64}, Layout::with_ppn(all, 1), machine).cost.seconds;
  };
  const auto on_16 = seconds(16), on_256 = seconds(256);
  machine.operations.alltoallv_rank_s = 1e-6;
  EXPECT_EQ(seconds(16), on_16) << "its call has these visits";
  EXPECT_NEAR(seconds(256), on_256 + 240e-6, 1e-12);
}

}  // namespace
}  // namespace commpass
