// Loops over values, and the decision whether values are shared.
#include "model/cost/value_loops.hpp"

#include <gtest/gtest.h>

namespace commpass {
namespace {

TEST(ValueLoops, AreCopiesWhosePiecesTakeAsLongAsRuns) {
  Machine machine;
  machine.copy_rate_bytes_per_s = 8e9;
  machine.copy_block_s = 4e-8;
  machine.datatype_rate_bytes_per_s = 1e12;  // so fast that it would be taken otherwise
  machine.datatype_block_s = 0;
  machine.value_run_s = 3e-9;
  const auto loops = with_value_loops(machine);
  EXPECT_DOUBLE_EQ(value_loop_seconds(machine, 10, 80), 10 * 3e-9 + 80 / 8e9);
  EXPECT_DOUBLE_EQ(copying_seconds(loops, 80, 10), 10 * 3e-9 + 80 / 8e9);
  EXPECT_FALSE(is_datatype_cheaper(loops, 80, 10));
}

TEST(ValueLoops, AddAtTheirOwnRateOrAsFastAsTheyCopy) {
  Machine machine;
  machine.copy_rate_bytes_per_s = 8e9;
  machine.value_run_s = 3e-9;
  EXPECT_DOUBLE_EQ(reduction_loop_seconds(machine, 10, 80), value_loop_seconds(machine, 10, 80));
  machine.reduction_rate_bytes_per_s = 5e9;
  EXPECT_DOUBLE_EQ(reduction_loop_seconds(machine, 10, 80), 10 * 3e-9 + 80 / 5e9);
  EXPECT_DOUBLE_EQ(reduction_seconds(with_value_loops(machine), 80, 10), 10 * 3e-9 + 80 / 5e9);
}

TEST(ValueLoops, WithoutTheirPriceTakeNoLongerThanCopies) {
  Machine machine;
  EXPECT_FALSE(value_run_seconds(machine)) << "nothing is known";
  machine.copy_block_s = 4e-8;
  EXPECT_EQ(value_run_seconds(machine), 2e-9);
  machine.copy_block_s = 1e-9;
  EXPECT_EQ(value_run_seconds(machine), 1e-9);
}

TEST(SharingPrice, IsOfTwoRunsForAnEdgeAndOfTheNetworkForABytes) {
  Machine machine;
  machine.host.by_level[standard_level::network] = Channel{{{"all", 100, 1e-6, 1e-9}, {"large", 1000, 1e-6, 5e-10}}};
  machine.copy_rate_bytes_per_s = 1e10;
  machine.copy_block_s = 4e-8;
  machine.value_run_s = 3e-9;
  const auto price = price_of_sharing(machine, 16);
  EXPECT_DOUBLE_EQ(price.edge_s, 6e-9);
  EXPECT_DOUBLE_EQ(price.byte_s, 5e-10);
  EXPECT_DOUBLE_EQ(price.value_s(8), 3e-9 + 8e-10);
  machine.copy_block_s.reset();
  machine.value_run_s.reset();
  const auto unknown = price_of_sharing(machine, 16);
  EXPECT_DOUBLE_EQ(unknown.edge_s, 64 * 5e-10);
  EXPECT_EQ(unknown.value_s(8), 0);
}

TEST(SharingPrice, IsOfTheRateThatRanksOfANodeShareWhereThatIsSlower) {
  Machine machine;
  machine.host.by_level[standard_level::network] = Channel{{{"all", 1000, 1e-6, 5e-10}}};
  machine.levels[machine.node_level()].up_rate_bytes_per_s = 1e10;
  EXPECT_DOUBLE_EQ(price_of_sharing(machine, 4).byte_s, 5e-10);
  EXPECT_DOUBLE_EQ(price_of_sharing(machine, 16).byte_s, 16 / 1e10);
}

}  // namespace
}  // namespace commpass
