#include "model/pattern/matrix_pattern.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

TEST(BlockPartition, GivesRankIItsRowsByTheFormula) {
  for (const std::int64_t rows : {1, 2, 3, 7, 10, 64, 97})
    for (const int ranks : {1, 2, 3, 5, 8, 10, 64, 100, 250}) {
      const auto owner = block_partition(rows, ranks);
      ASSERT_EQ(std::ssize(owner), rows);
      for (std::int64_t i = 0; i < ranks; ++i)
        for (std::int64_t row = i * rows / ranks; row < (i + 1) * rows / ranks; ++row)
          EXPECT_EQ(owner[static_cast<std::size_t>(row)], i) << rows << " rows, " << ranks << " ranks, row " << row;
    }
}

TEST(BlockPartition, NeedsARank) {
  expect_sentence(error_of([] { block_partition(4, 0); }), {"0 ranks"});
}

/// The values that each rank needs, column by column and row by row.
std::map<std::pair<Rank, Rank>, Bytes> brute_force(const CoordinateMatrix& matrix, const std::vector<Rank>& owner,
                                                   Bytes value_bytes) {
  std::set<std::pair<std::int64_t, std::int64_t>> entries;
  for (std::size_t i = 0; i < matrix.row.size(); ++i) {
    entries.insert({matrix.row[i], matrix.column[i]});
    if (matrix.symmetry != CoordinateMatrix::Symmetry::general) entries.insert({matrix.column[i], matrix.row[i]});
  }
  std::map<std::pair<Rank, Rank>, Bytes> result;
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    std::set<Rank> readers;
    for (std::int64_t row = 0; row < matrix.rows; ++row)
      if (entries.contains({row, column})) readers.insert(owner[static_cast<std::size_t>(row)]);
    const Rank from = owner[static_cast<std::size_t>(column)];
    for (const Rank to : readers)
      if (to != from) result[{from, to}] += value_bytes;
  }
  return result;
}

TEST(MatrixPattern, MovesEachColumnOnceToEachRankThatTouchesIt) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    CoordinateMatrix matrix;
    matrix.rows = matrix.columns = 1 + static_cast<int>(random() % 30);
    matrix.symmetry = round % 2 == 0 ? CoordinateMatrix::Symmetry::general : CoordinateMatrix::Symmetry::symmetric;
    for (auto entries = random() % 120; entries > 0; --entries) {
      auto row = static_cast<std::int64_t>(random() % static_cast<unsigned>(matrix.rows)),
           column = static_cast<std::int64_t>(random() % static_cast<unsigned>(matrix.rows));
      if (matrix.symmetry == CoordinateMatrix::Symmetry::symmetric && column > row) std::swap(row, column);
      matrix.row.push_back(row);
      matrix.column.push_back(column);
    }
    const int ranks = 1 + static_cast<int>(random() % 8);
    auto owner = block_partition(matrix.rows, ranks);
    if (round % 3 == 0)
      for (auto& rank : owner) rank = static_cast<Rank>(random() % static_cast<unsigned>(ranks));
    const auto pattern = matrix_pattern(matrix, owner, ranks, 8);
    EXPECT_EQ(pattern.ranks, ranks);
    std::map<std::pair<Rank, Rank>, Bytes> found;
    for (const auto& edge : pattern.edges)
      EXPECT_TRUE(found.try_emplace({edge.source, edge.destination}, edge.bytes).second) << "one edge a pair";
    EXPECT_EQ(found, brute_force(matrix, owner, 8));

    // Told by values: the same for every pair, and a payload for each set of ranks.
    const auto shared = shared_value_pattern(matrix, owner, ranks, 8);
    EXPECT_NO_THROW(shared.validate());
    std::map<std::pair<Rank, Rank>, Bytes> sums;
    std::map<std::pair<Rank, Payload>, std::set<Rank>> readers;
    for (const auto& edge : shared.edges) {
      sums[{edge.source, edge.destination}] += edge.bytes;
      if (edge.payload == no_payload) continue;
      EXPECT_TRUE((readers[{edge.source, edge.payload}].insert(edge.destination).second));
    }
    EXPECT_EQ(sums, found);
    std::set<std::pair<Rank, std::set<Rank>>> groups;
    for (const auto& [payload, ranks_of_it] : readers) {
      EXPECT_GT(ranks_of_it.size(), 1U);
      EXPECT_TRUE(groups.insert({payload.first, ranks_of_it}).second) << "one payload for each set of ranks";
    }
  }
}

TEST(MatrixPattern, OfATridiagonalMatrixIsNeighbours) {
  CoordinateMatrix matrix;
  matrix.rows = matrix.columns = 8;
  matrix.symmetry = CoordinateMatrix::Symmetry::symmetric;
  for (std::int64_t i = 0; i < 8; ++i)
    for (const auto column : {i, i - 1})
      if (column >= 0) {
        matrix.row.push_back(i);
        matrix.column.push_back(column);
      }
  const auto pattern = matrix_pattern(matrix, block_partition(8, 4), 4, 4);
  EXPECT_EQ(pattern.edges, (std::vector<Edge>{{0, 1, 4}, {1, 0, 4}, {1, 2, 4}, {2, 1, 4}, {2, 3, 4}, {3, 2, 4}}));
}

TEST(MatrixPattern, OfARectangularMatrixDividesItsVectorInBlocks) {
  CoordinateMatrix matrix;  // interpolation: two rows for each column
  matrix.rows = 8;
  matrix.columns = 4;
  for (std::int64_t row = 0; row < 8; ++row)
    for (const auto column : {row / 2, std::min<std::int64_t>(row / 2 + 1, 3)}) {
      matrix.row.push_back(row);
      matrix.column.push_back(column);
    }
  const auto pattern = matrix_pattern(matrix, block_partition(8, 4), 4, 8);
  EXPECT_EQ(pattern.edges, (std::vector<Edge>{{1, 0, 8}, {2, 1, 8}, {3, 2, 8}}));
  std::swap(matrix.rows, matrix.columns);
  std::swap(matrix.row, matrix.column);
  EXPECT_EQ(matrix_pattern(matrix, block_partition(4, 2), 2, 8).edges, (std::vector<Edge>{{0, 1, 16}}));
}

TEST(MatrixPattern, RefusesBadOwners) {
  CoordinateMatrix matrix;
  matrix.rows = matrix.columns = 3;
  expect_sentence(error_of([&] { matrix_pattern(matrix, {0, 0}, 1, 8); }), {"3 rows have 2 owners"});
  expect_sentence(error_of([&] { matrix_pattern(matrix, {0, 0, 1}, 1, 8); }), {"owner out of range", "0 to 0"});
  expect_sentence(error_of([&] { matrix_pattern(matrix, {0, -1, 0}, 1, 8); }), {"owner out of range"});
  expect_sentence(error_of([&] { matrix_pattern(matrix, {0, 0, 0}, 1, -8); }), {"-8 bytes a value"});
  EXPECT_TRUE(matrix_pattern(matrix, {0, 0, 0}, 1, 8).edges.empty());
}

TEST(SharedValues, AreGroupedByTheRanksThatNeedThem) {
  // Rank 0 owns columns 0 to 3: ranks 1 and 2 need 0 and 2, rank 1 needs 1, no rank needs 3.
  CoordinateMatrix matrix;
  matrix.rows = matrix.columns = 6;
  matrix.row = {4, 5, 4, 5, 4, 0};
  matrix.column = {0, 0, 2, 2, 1, 3};
  const auto pattern = shared_value_pattern(matrix, {0, 0, 0, 0, 1, 2}, 3, 8);
  EXPECT_EQ(pattern.edges, (std::vector<Edge>{{0, 1, 8}, {0, 1, 16, 0}, {0, 2, 16, 0}}));
  EXPECT_EQ(matrix_pattern(matrix, {0, 0, 0, 0, 1, 2}, 3, 8).edges, (std::vector<Edge>{{0, 1, 24}, {0, 2, 16}}));
}

}  // namespace
}  // namespace commpass
