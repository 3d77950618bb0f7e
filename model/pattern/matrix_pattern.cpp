#include "model/pattern/matrix_pattern.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <utility>

#include "model/base/error.hpp"

namespace commpass {

std::vector<Rank> block_partition(std::int64_t rows, int ranks) {
  if (ranks < 1) throw InputError("partition", fmt::format("{} ranks own nothing", ranks), "use at least one");
  std::vector<Rank> owner(static_cast<std::size_t>(rows));
  // Row r belongs to the last rank i with ⌊i·n/P⌋ ≤ r.
  for (std::int64_t row = 0; row < rows; ++row)
    owner[static_cast<std::size_t>(row)] = static_cast<Rank>(((row + 1) * ranks - 1) / rows);
  return owner;
}

namespace {

/// That a rank needs an entry of x that another one owns.
struct Need {
  Rank owner = 0;
  std::int64_t entry = 0;
  Rank rank = 0;
  auto operator<=>(const Need&) const = default;
};

/// Which rank needs which entry of x, each once, sorted.
std::vector<Need> needs_of(const CoordinateMatrix& matrix, const std::vector<Rank>& owner, int ranks, Bytes value_bytes,
                           const std::string& origin) {
  if (std::ssize(owner) != matrix.rows)
    throw InputError(origin, fmt::format("{} rows have {} owners", matrix.rows, owner.size()),
                     "give every row an owner");
  if (std::ranges::any_of(owner, [&](Rank rank) { return rank < 0 || rank >= ranks; }))
    throw InputError(origin, "a row has an owner out of range", fmt::format("use ranks 0 to {}", ranks - 1));
  if (value_bytes < 0) throw InputError(origin, fmt::format("{} bytes a value", value_bytes), "use 0 or more");

  const bool is_square = matrix.rows == matrix.columns;
  const auto columns = is_square ? std::vector<Rank>() : block_partition(matrix.columns, ranks);
  const auto& holders = is_square ? owner : columns;
  std::vector<Need> needs;
  const auto need = [&](std::int64_t row, std::int64_t column) {
    const Rank rank = owner[static_cast<std::size_t>(row)], holder = holders[static_cast<std::size_t>(column)];
    if (rank != holder) needs.push_back({holder, column, rank});
  };
  const bool both_triangles = matrix.symmetry != CoordinateMatrix::Symmetry::general;
  for (std::size_t i = 0; i < matrix.row.size(); ++i) {
    need(matrix.row[i], matrix.column[i]);
    if (both_triangles) need(matrix.column[i], matrix.row[i]);
  }
  std::ranges::sort(needs);
  needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
  if (!needs.empty() && value_bytes > std::numeric_limits<Bytes>::max() / std::ssize(needs))
    throw InputError(origin, fmt::format("{} values of {} bytes are more than 2^63 bytes", needs.size(), value_bytes),
                     "use smaller values");
  return needs;
}

}  // namespace

Pattern matrix_pattern(const CoordinateMatrix& matrix, const std::vector<Rank>& owner, int ranks, Bytes value_bytes,
                       const std::string& origin) {
  const auto needs = needs_of(matrix, owner, ranks, value_bytes, origin);
  // One edge for each (owner of the entry, rank that needs it).
  std::vector<std::pair<Rank, Rank>> pairs;
  pairs.reserve(needs.size());
  for (const auto& need : needs) pairs.emplace_back(need.owner, need.rank);
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

Pattern shared_value_pattern(const CoordinateMatrix& matrix, const std::vector<Rank>& owner, int ranks,
                             Bytes value_bytes, const std::string& origin) {
  const auto needs = needs_of(matrix, owner, ranks, value_bytes, origin);
  // How many entries of an owner the same ranks need.
  std::map<std::pair<Rank, std::vector<Rank>>, std::int64_t> entries;
  for (std::size_t i = 0; i < needs.size();) {
    std::vector<Rank> readers;
    const auto first = i;
    for (; i < needs.size() && needs[i].entry == needs[first].entry; ++i) readers.push_back(needs[i].rank);
    ++entries[{needs[first].owner, std::move(readers)}];
  }

  Pattern pattern{ranks, {}};
  Payload next = 0;
  for (const auto& [group, count] : entries) {
    const auto& [source, readers] = group;
    const auto payload = readers.size() > 1 ? next++ : no_payload;
    for (const Rank reader : readers) pattern.edges.push_back({source, reader, count * value_bytes, payload});
  }
  std::ranges::stable_sort(pattern.edges, {}, [](const Edge& e) { return std::pair(e.source, e.destination); });
  return pattern;
}

}  // namespace commpass
