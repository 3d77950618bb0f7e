#include "model/pattern/metis_partition.hpp"

#include <fmt/core.h>
#include <metis.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "model/base/error.hpp"

namespace commpass {

namespace {

/// The graph of neighbours, as METIS takes it.
struct Graph {
  std::vector<idx_t> begin;  ///< of the neighbours of each row
  std::vector<idx_t> neighbours;
};

/// The graph of A + Aᵀ without its diagonal.
Graph graph_of(const CoordinateMatrix& matrix) {
  std::vector<std::pair<idx_t, idx_t>> edges;
  edges.reserve(2 * matrix.row.size());
  for (std::size_t i = 0; i < matrix.row.size(); ++i) {
    const auto row = static_cast<idx_t>(matrix.row[i]), column = static_cast<idx_t>(matrix.column[i]);
    if (row == column) continue;
    edges.emplace_back(row, column);
    edges.emplace_back(column, row);
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());

  Graph graph;
  graph.begin.resize(static_cast<std::size_t>(matrix.rows) + 1);
  for (const auto& [row, column] : edges) {
    ++graph.begin[static_cast<std::size_t>(row) + 1];
    graph.neighbours.push_back(column);
  }
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  return graph;
}

}  // namespace

std::vector<Rank> metis_partition(const CoordinateMatrix& matrix, int ranks, const std::string& origin) {
  if (matrix.rows != matrix.columns)
    throw InputError(origin, fmt::format("it is {} x {}", matrix.rows, matrix.columns), "use a square matrix");
  if (ranks < 1) throw InputError("partition", fmt::format("{} ranks own nothing", ranks), "use at least one");
  constexpr auto largest = static_cast<std::size_t>(std::numeric_limits<idx_t>::max());
  if (matrix.row.size() > largest / 2)
    throw InputError(origin, fmt::format("{} entries are more than METIS takes", matrix.row.size()),
                     "use --partition block");

  std::vector<idx_t> owner(static_cast<std::size_t>(matrix.rows));
  if (ranks >= matrix.rows) std::iota(owner.begin(), owner.end(), idx_t{0});
  if (ranks == 1 || ranks >= matrix.rows) return {owner.begin(), owner.end()};
  auto graph = graph_of(matrix);
  auto rows = static_cast<idx_t>(matrix.rows);
  idx_t constraints = 1, parts = ranks, cut = 0;
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  const int code = METIS_PartGraphKway(&rows, &constraints, graph.begin.data(), graph.neighbours.data(), nullptr,
                                       nullptr, nullptr, &parts, nullptr, nullptr, options.data(), &cut, owner.data());
  if (code != METIS_OK)
    throw InputError(origin, fmt::format("METIS cannot part it among {} ranks", ranks), "use --partition block");
  return {owner.begin(), owner.end()};
}

}  // namespace commpass
