#include "model/pattern/metis_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/pattern/matrix_pattern.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

/// The five-point stencil on a square, with its points numbered so that neighbours are far from each other.
CoordinateMatrix scattered_square(std::int64_t side) {
  CoordinateMatrix matrix;
  matrix.rows = matrix.columns = side * side;
  const auto number = [&](std::int64_t x, std::int64_t y) {
    return (x + side * y) * 7 % (side * side);
  };  // 7 and side have no common factor
  for (std::int64_t x = 0; x < side; ++x)
    for (std::int64_t y = 0; y < side; ++y)
      for (const auto& [u, v] : {std::pair{x, y}, {x + 1, y}, {x - 1, y}, {x, y + 1}, {x, y - 1}})
        if (u >= 0 && u < side && v >= 0 && v < side) {
          matrix.row.push_back(number(x, y));
          matrix.column.push_back(number(u, v));
        }
  return matrix;
}

Bytes moved(const CoordinateMatrix& matrix, const std::vector<Rank>& owner, int ranks) {
  Bytes sum = 0;
  for (const auto& edge : matrix_pattern(matrix, owner, ranks, 8).edges) sum += edge.bytes;
  return sum;
}

TEST(MetisPartition, MovesFewerBytesThanBlocksAndSharesRowsOut) {
  const auto matrix = scattered_square(20);
  constexpr int ranks = 8;
  const auto owner = metis_partition(matrix, ranks);
  EXPECT_LT(2 * moved(matrix, owner, ranks), moved(matrix, block_partition(matrix.rows, ranks), ranks));
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto rows = std::ranges::count(owner, rank);
    EXPECT_GE(rows, 40) << "of 50 on average";
    EXPECT_LE(rows, 60);
  }
}

TEST(MetisPartition, IsTheSameEveryTime) {
  const auto matrix = scattered_square(20);
  EXPECT_EQ(metis_partition(matrix, 7), metis_partition(matrix, 7));
}

TEST(MetisPartition, OfAsManyRanksAsRowsOrMoreGivesEachItsOwn) {
  const auto matrix = scattered_square(2);
  EXPECT_EQ(metis_partition(matrix, 4), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(metis_partition(matrix, 9), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(metis_partition(matrix, 1), (std::vector{0, 0, 0, 0}));
}

TEST(MetisPartition, TakesMatricesWithoutEntriesAndAlmostAsManyRanksAsRows) {
  CoordinateMatrix empty;
  empty.rows = empty.columns = 10;
  for (const auto& matrix : {empty, scattered_square(4)})
    for (int ranks = 2; ranks < matrix.rows; ++ranks) {
      testing::internal::CaptureStdout();
      const auto owner = metis_partition(matrix, ranks);
      EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << "stdout is ours";
      EXPECT_EQ(std::ssize(owner), matrix.rows);
      EXPECT_TRUE(std::ranges::all_of(owner, [&](Rank rank) { return rank >= 0 && rank < ranks; })) << ranks;
    }
}

TEST(MetisPartition, RefusesMatricesThatAreNotSquareAndNoRanks) {
  CoordinateMatrix matrix;
  matrix.rows = 3;
  matrix.columns = 4;
  expect_sentence(error_of([&] { metis_partition(matrix, 2, "a.mtx"); }), {"a.mtx", "3 x 4", "square"});
  matrix.columns = 3;
  expect_sentence(error_of([&] { metis_partition(matrix, 0); }), {"0 ranks"});
}

}  // namespace
}  // namespace commpass
