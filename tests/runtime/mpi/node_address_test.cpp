// Groups of nodes from Slurm's topology.
#include "runtime/mpi/node_address.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>

#include "runtime/mpi/detect_layout.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

constexpr auto* pattern = "switch.switch.node";

TEST(NodeAddress, IsOfTheSwitchesAboveItsNode) {
  const auto a = read_node_address("s0.s1.n1", pattern), b = read_node_address("s0.s1.n2", pattern),
             c = read_node_address("s0.s2.n1", pattern);
  ASSERT_TRUE(a && b && c);
  EXPECT_EQ(a->group, b->group);
  EXPECT_NE(a->node, b->node);
  EXPECT_NE(a->group, c->group);
  EXPECT_TRUE(read_node_address("block3.n1", "block.node"));
}

TEST(NodeAddress, ThatTellsOfNoGroupIsNone) {
  EXPECT_FALSE(read_node_address("n1", "node")) << "all nodes are alike";
  EXPECT_FALSE(read_node_address("s0.n1.domain.org", "switch.node")) << "which dot ends what?";
  EXPECT_FALSE(read_node_address("s0.s1", "switch.switch"));
  EXPECT_FALSE(read_node_address("", ""));
}

TEST(Groups, AreThoseOfTheAddresses) {
  const NodeAddress a{1, 10}, b{1, 11}, c{2, 12};
  EXPECT_EQ(groups_of(std::vector{0, 0, 1, 2}, std::vector{a, a, b, c}), (std::vector{0, 0, 0, 1}));
  EXPECT_TRUE(groups_of(std::vector{0, 0, 1}, std::vector{a, b, c}).empty()) << "one node has two addresses";
  EXPECT_TRUE(groups_of(std::vector{0, 1, 2}, std::vector{a, a, c}).empty()) << "two nodes have one address";
}

/// Here all ranks are on one node, of which Slurm told each another address, or the same.
TEST(Groups, AreNotTakenFromRanksOfANodeThatContradictEachOther) {
  const int rank = rank_in(MPI_COMM_WORLD);
  setenv("SLURM_TOPOLOGY_ADDR_PATTERN", pattern, 1);
  for (const bool differs : {false, true}) {
    const auto address = "s0.s" + std::to_string(differs ? rank : 0) + ".n0";
    setenv("SLURM_TOPOLOGY_ADDR", address.c_str(), 1);
    const auto layout = detect_layout(MPI_COMM_WORLD);
    EXPECT_TRUE(test::everywhere(layout.groups() == 1 && layout.nodes() == 1));
  }
  if (rank > 0) unsetenv("SLURM_TOPOLOGY_ADDR");
  EXPECT_TRUE(test::everywhere(detect_layout(MPI_COMM_WORLD).groups() == 1)) << "some do not know";
  unsetenv("SLURM_TOPOLOGY_ADDR");
  unsetenv("SLURM_TOPOLOGY_ADDR_PATTERN");
}

}  // namespace
}  // namespace commpass
