#include "runtime/cartesian/halo_exchange.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <random>

#include "runtime/cartesian/two_a_node.hpp"
#include "runtime/world.hpp"

namespace commpass {
namespace {

using test::common_error;
using test::everywhere;
using test::rank_of;
using test::size_of;

struct Drawn {
  Grid grid;
  HaloArray array;

  explicit Drawn(int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    const int d = 1 + draw(4);
    int left = size_of();
    for (int k = 0; k < d; ++k) {
      int size = k + 1 == d ? left : 1 + draw(left);
      while (left % size != 0) --size;
      left /= size;
      grid.dims.push_back(size);
      grid.periodic.push_back(draw(3) > 0);
      array.extent.push_back(1 + draw(4));
      array.depth.push_back(std::min(draw(3), array.extent.back()));
    }
    array.cell_bytes = sizeof(int);
  }
};

/// The number of a cell of the whole array: a mix of its global coordinates.
int value_of(const std::vector<int>& global) {
  unsigned value = 17;
  for (const int c : global) value = value * 131 + static_cast<unsigned>(c) + 1;
  return static_cast<int>(value);
}

/// Calls action(index, local coordinates without halo) for each cell of the array with its halo.
template <class Action>
void for_each_cell(const HaloArray& array, Action action) {
  const auto d = array.extent.size();
  std::vector<int> at(d);
  for (std::size_t k = 0; k < d; ++k) at[k] = -array.depth[k];
  for (std::size_t index = 0;; ++index) {
    action(index, at);
    std::size_t k = d;
    while (k > 0 && ++at[k - 1] == array.extent[k - 1] + array.depth[k - 1]) {
      at[k - 1] = -array.depth[k - 1];
      --k;
    }
    if (k == 0) return;
  }
}

constexpr int untouched = -5;

/// What the array must hold: with own cells alone, or with the halo.
std::vector<int> cells(const Drawn& drawn, bool with_halo) {
  const auto& grid = drawn.grid;
  const auto& array = drawn.array;
  const auto coordinates = grid.coordinates(rank_of());
  std::vector<int> result(static_cast<std::size_t>(array.bytes()) / sizeof(int), untouched);
  for_each_cell(array, [&](std::size_t index, const std::vector<int>& at) {
    std::vector<int> global;
    bool is_own = true, exists = true;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const int all = grid.dims[k] * array.extent[k], here = coordinates[k] * array.extent[k] + at[k];
      is_own = is_own && at[k] >= 0 && at[k] < array.extent[k];
      exists = exists && (grid.periodic[k] || (here >= 0 && here < all));
      global.push_back(modulo(here, all));
    }
    if (is_own || (with_halo && exists)) result[index] = value_of(global);
  });
  return result;
}

using Halo = test::TwoANode;

TEST_F(Halo, HasTheCellsOfAllNeighboursHoweverItMoves) {
  for (int seed = 1; seed <= 60; ++seed) {
    const Drawn drawn(seed);
    const auto d = drawn.grid.dimensions();
    std::vector<int> up(d), down(d), at_once(d, 1);
    for (std::size_t k = 0; k < d; ++k) {
      up[k] = static_cast<int>(k) + 1;
      down[k] = static_cast<int>(d - k);
    }
    const auto wanted = cells(drawn, true);
    for (const auto& stages : {std::vector<int>(), up, down, at_once})
      for (const bool is_shared : {false, true}) {
        if (is_shared && seed % 4 != 0) continue;
        auto array = cells(drawn, false);
        auto exchange =
            communicator_.halo_exchange(drawn.grid, drawn.array, array.data(), {.stages = stages, .shared = is_shared});
        EXPECT_EQ(exchange.strategy().ends_with(",shared"), is_shared);
        for (int run = 0; run < 3; ++run) {
          std::ranges::copy(cells(drawn, false), array.begin());
          exchange.start();
          exchange.wait();
          ASSERT_TRUE(everywhere(array == wanted))
              << "seed " << seed << ", " << describe(drawn.grid) << ", " << exchange.strategy();
        }
      }
  }
}

TEST_F(Halo, MovesWithTwoMessagesADimension) {
  const int ranks = size_of();
  if (ranks < 3) GTEST_SKIP() << "a rank is its own neighbour";
  const Grid grid{{ranks, 1, 1}, {true, false, false}};
  std::vector<double> array(6 * 6 * 6);
  const auto exchange =
      communicator_.halo_exchange(grid, {{4, 4, 4}, {1, 1, 1}, sizeof(double)}, array.data(), {{3, 2, 1}});
  EXPECT_EQ(exchange.messages(), 2);
  EXPECT_EQ(exchange.buffer_bytes(), Bytes{0} + 2 * 2 * 16 * 8)
      << "planes of the first dimension, without their edges, have several pieces";
}

TEST_F(Halo, GoesThroughMemoryOfANodeWhereThatIsFaster) {
  const Grid grid{{size_of(), 1}, {true, true}};
  std::vector<double> array(6 * 6);
  auto machine = test::some_machine();
  machine.shared.by_level[standard_level::socket] = Channel{{Protocol{"pushed", shared_bytes_max, 1e-9, 1e-12, 1e-9}}};
  Communicator communicator(MPI_COMM_WORLD, machine, {Layout::with_ppn(size_of(), size_of())});
  const auto strategy = [&](std::optional<bool> shared) {
    return communicator.halo_exchange(grid, {{4, 4}, {1, 1}, sizeof(double)}, array.data(), {.shared = shared})
        .strategy();
  };
  EXPECT_EQ(strategy({}).ends_with(",shared"), size_of() > 1) << strategy({});
  EXPECT_TRUE(strategy(true).ends_with(",shared"));
  EXPECT_FALSE(strategy(false).ends_with(",shared"));
}

TEST_F(Halo, TakesRanksWithOtherExtentsAlongADimension) {
  const int ranks = size_of(), rank = rank_of();
  const Grid grid{{ranks}, {true}};
  std::vector<int> array(static_cast<std::size_t>(rank + 2 + 2), rank);
  auto exchange = communicator_.halo_exchange(grid, {{rank + 2}, {1}, sizeof(int)}, array.data());
  exchange.start();
  exchange.wait();
  EXPECT_EQ(array.front(), (rank + ranks - 1) % ranks);
  EXPECT_EQ(array.back(), (rank + 1) % ranks);
}

TEST_F(Halo, RefusesBadArgumentsOnAllRanks) {
  const int ranks = size_of();
  const Grid grid{{ranks, 1}, {true, true}};
  std::vector<int> array(1000);
  const auto error_of = [&](const Grid& its_grid, const HaloArray& its, const HaloOptions& options = {}) {
    return common_error([&] { communicator_.halo_exchange(its_grid, its, array.data(), options); });
  };
  EXPECT_NE(error_of({{ranks + 1}, {true}}, {{4}, {1}, 4}).find("ranks"), std::string::npos);
  EXPECT_NE(error_of(grid, {{4}, {1}, 4}).find("dimensions"), std::string::npos);
  EXPECT_NE(error_of(grid, {{4, 4}, {5, 1}, 4}).find("deep"), std::string::npos);
  EXPECT_NE(error_of(grid, {{4, 0}, {1, 0}, 4}).find("cells"), std::string::npos);
  EXPECT_NE(error_of(grid, {{4, 4}, {1, 1}, 0}).find("bytes"), std::string::npos);
  EXPECT_NE(error_of(grid, {{4, 4}, {1, 1}, 4}, {{1, 3}}).find("stages"), std::string::npos);
  if (ranks > 1) {
    EXPECT_NE(error_of(grid, {{4, 4}, {rank_of() % 2, 1}, 4}).find("rank 0"), std::string::npos);
    EXPECT_NE(error_of(grid, {{4, 4 + rank_of()}, {1, 1}, 4}).find("extents"), std::string::npos);
  }
}

}  // namespace
}  // namespace commpass
