#include "runtime/mpi/detect_layout.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include "runtime/collectives.hpp"
#include "runtime/mpi/own_communicator.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::counted;
using test::rank_of;

test::Calls calls_to_detect(MPI_Comm comm, Layout& found) {
  const auto before = counted;
  found = detect_layout(comm);
  return counted.since(before);
}

TEST(DetectedLayout, OfRanksThatLookedBeforeTakesNoOtherLook) {
  const auto world = detect_layout(MPI_COMM_WORLD);
  auto again = world, part = world;
  const auto of_world = calls_to_detect(MPI_COMM_WORLD, again);
  constexpr int agreements = 2;  // that all ranks know the same places, and whether they have addresses
  EXPECT_TRUE(test::everywhere(of_world.small == agreements)) << of_world.small;
  EXPECT_TRUE(test::everywhere(places_text(again) == places_text(world)));
  const auto halves = OwnCommunicator::split(MPI_COMM_WORLD, rank_of() % 2);
  const auto of_half = calls_to_detect(halves.get(), part);
  EXPECT_TRUE(test::everywhere(of_half.small == agreements)) << of_half.small;
  EXPECT_TRUE(test::everywhere(part.ranks() == halves.size() && part.nodes() == 1));
}

TEST(KnownLevels, OfAPartOfTheRanksAreTheirs) {
  const std::vector<int> many{1000, 1001, 1002, 1003};  // no test has these ranks
  remember_levels(many, {{"socket", {0, 1, 0, 1}}, {"node", {7, 7, 9, 9}}});
  const auto part = find_known_levels(std::vector{1003, 1001});
  ASSERT_TRUE(part);
  ASSERT_EQ(part->size(), 2U);
  EXPECT_EQ(part->front().name, "socket");
  EXPECT_EQ(part->front().ids, (std::vector{1, 1}));
  EXPECT_EQ(part->back().ids, (std::vector{9, 7}));
  EXPECT_FALSE(find_known_levels(std::vector{1003, 1004})) << "no communicator had both";
}

TEST(KnownLevels, AreForgottenBeforeTheyAreMany) {
  constexpr int beyond_all = 9;
  for (int i = 0; i < beyond_all; ++i) remember_levels(std::vector{2000 + i}, {{"node", {i}}});
  EXPECT_FALSE(find_known_levels(std::vector{2000}));
  EXPECT_TRUE(find_known_levels(std::vector{2001}));
}

}  // namespace
}  // namespace commpass
