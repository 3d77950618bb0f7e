#include "model/pattern/grid.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/format.hpp"

namespace commpass {

int Grid::ranks() const {
  int product = 1;
  for (const int size : dims) product *= size;
  return product;
}

std::vector<int> Grid::weights() const {
  std::vector<int> weights(dims.size(), 1);
  for (std::size_t k = dims.size(); k-- > 1;) weights[k - 1] = weights[k] * dims[k];
  return weights;
}

std::vector<int> Grid::coordinates(Rank rank) const {
  std::vector<int> result(dims.size());
  for (std::size_t k = dims.size(); k-- > 0; rank /= dims[k]) result[k] = rank % dims[k];
  return result;
}

std::optional<Rank> Grid::rank_at(std::span<const int> coordinates) const {
  Rank rank = 0;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const bool is_inside = coordinates[k] >= 0 && coordinates[k] < dims[k];
    if (!is_inside && !periodic[k]) return std::nullopt;
    rank = rank * dims[k] + modulo(coordinates[k], dims[k]);
  }
  return rank;
}

std::optional<Rank> Grid::relative(Rank rank, std::span<const int> offset) const {
  auto target = coordinates(rank);
  for (std::size_t k = 0; k < dims.size(); ++k) {
    // Of a periodic dimension the remainder alone: the sum might be no int.
    if (periodic[k]) target[k] += modulo(offset[k], dims[k]);
    else if (offset[k] <= -dims[k] || offset[k] >= dims[k]) return std::nullopt;
    else target[k] += offset[k];
  }
  return rank_at(target);
}

int Grid::offset_in(std::size_t dimension, int from, int to) const {
  if (!periodic[dimension]) return to - from;
  const int size = dims[dimension], offset = modulo(to - from, size);
  return 2 * offset > size ? offset - size : offset;
}

std::vector<int> Grid::offset_between(Rank from, Rank to) const {
  const auto begin = coordinates(from);
  auto offset = coordinates(to);
  for (std::size_t k = 0; k < dims.size(); ++k) offset[k] = offset_in(k, begin[k], offset[k]);
  return offset;
}

void Grid::validate(const std::string& place) const {
  if (dims.empty()) throw InputError(place, "the grid has no dimensions", "give 1 or more");
  if (periodic.size() != dims.size())
    throw InputError(place, fmt::format("there are {} dimensions and {} periods", dims.size(), periodic.size()),
                     "give a period for each dimension");
  std::int64_t product = 1;
  for (const int size : dims) {
    if (size < 1) throw InputError(place, fmt::format("a dimension has size {}", size), "use 1 or more");
    product *= size;
    if (product > most_grid_ranks)
      throw InputError(place, fmt::format("the grid has more than {} ranks", most_grid_ranks), "use a smaller grid");
  }
}

std::string describe(const Grid& grid) {
  auto text = join(grid.dims, "x");
  const auto count = std::ranges::count(grid.periodic, true);
  if (count == 0) return text;
  text += ", periodic";
  if (count == std::ssize(grid.dims)) return text;
  const char* separator = " in ";
  for (std::size_t k = 0; k < grid.dims.size(); ++k)
    if (grid.periodic[k]) text += fmt::format("{}{}", std::exchange(separator, " and "), k + 1);
  return text;
}

}  // namespace commpass
