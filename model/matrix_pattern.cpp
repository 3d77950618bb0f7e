#include "model/matrix_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/error.hpp"

namespace commpass {

std::vector<Rank> block_partition(std::int64_t rows, int ranks) {
  if (ranks < 1) throw InputError("partition", fmt::format("{} ranks own nothing", ranks), "use at least one");
  std::vector<Rank> owner(static_cast<std::size_t>(rows));
  // Row r belongs to the last rank i with ⌊i·n/P⌋ ≤ r.
  for (std::int64_t row = 0; row < rows; ++row)
    owner[static_cast<std::size_t>(row)] = static_cast<Rank>(((row + 1) * ranks - 1) / rows);
  return owner;
}

Pattern matrix_pattern(const CoordinateMatrix& matrix, const std::vector<Rank>& owner, int ranks, Bytes value_bytes,
                       const std::string& origin) {
  if (matrix.rows != matrix.columns)
    throw InputError(origin, fmt::format("it is {} x {}", matrix.rows, matrix.columns), "use a square matrix");
  if (std::ssize(owner) != matrix.rows)
    throw InputError(origin, fmt::format("{} rows have {} owners", matrix.rows, owner.size()), "give every row an owner");
  if (std::ranges::any_of(owner, [&](Rank rank) { return rank < 0 || rank >= ranks; }))
    throw InputError(origin, "a row has an owner out of range", fmt::format("use ranks 0 to {}", ranks - 1));
  if (value_bytes < 0) throw InputError(origin, fmt::format("{} bytes a value", value_bytes), "use 0 or more");

  // Which rank needs which entry of x, each once.
  std::vector<std::pair<Rank, std::int64_t>> needs;
  const auto need = [&](std::int64_t row, std::int64_t column) {
    const Rank rank = owner[static_cast<std::size_t>(row)];
    if (rank != owner[static_cast<std::size_t>(column)]) needs.emplace_back(rank, column);
  };
  const bool both_triangles = matrix.symmetry != CoordinateMatrix::Symmetry::general;
  for (std::size_t i = 0; i < matrix.row.size(); ++i) {
    need(matrix.row[i], matrix.column[i]);
    if (both_triangles) need(matrix.column[i], matrix.row[i]);
  }
  std::ranges::sort(needs);
  needs.erase(std::unique(needs.begin(), needs.end()), needs.end());

  // One edge for each (owner of the entry, rank that needs it).
  std::vector<std::pair<Rank, Rank>> pairs;
  pairs.reserve(needs.size());
  for (const auto& [rank, column] : needs) pairs.emplace_back(owner[static_cast<std::size_t>(column)], rank);
  std::ranges::sort(pairs);

  Pattern pattern{ranks, {}};
  for (std::size_t i = 0; i < pairs.size();) {
    std::size_t end = i;
    while (end < pairs.size() && pairs[end] == pairs[i]) ++end;
    pattern.edges.push_back({pairs[i].first, pairs[i].second, static_cast<Bytes>(end - i) * value_bytes});
    i = end;
  }
  return pattern;
}

}  // namespace commpass
