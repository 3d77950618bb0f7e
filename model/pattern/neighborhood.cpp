#include "model/pattern/neighbor_bytes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "model/base/error.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

std::optional<Rank> Neighborhood::source(Rank rank, int neighbor) const {
  const auto forth = offset(neighbor);
  std::vector<int> back(forth.begin(), forth.end());
  for (std::size_t k = 0; k < back.size(); ++k)  // the remainder first: the least int has no opposite
    back[k] = grid.periodic[k] ? -modulo(back[k], grid.dims[k]) : -std::max(back[k], -grid.dims[k]);
  return grid.relative(rank, back);
}

void Neighborhood::validate(const std::string& place) const {
  grid.validate(place);
  if (offsets.size() % grid.dimensions() != 0)
    throw InputError(place,
                     fmt::format("{} numbers are no offsets in {} dimensions", offsets.size(), grid.dimensions()),
                     "give a number for each dimension");
  if (!weights.empty() && std::ssize(weights) != size())
    throw InputError(place, fmt::format("there are {} neighbours and {} weights", size(), weights.size()),
                     "give a weight for each neighbour, or none");
  if (std::ranges::any_of(weights, [](int weight) { return weight < 0; }))
    throw InputError(place, "a weight is negative", "use 0 or more");
}

std::vector<int> cube_offsets(std::size_t dimensions, int count, int first) {
  std::vector<int> result, offset(dimensions, first);
  while (true) {
    result.insert(result.end(), offset.begin(), offset.end());
    std::size_t k = dimensions;
    while (k > 0 && ++offset[k - 1] == first + count) offset[--k] = first;
    if (k == 0) return result;
  }
}

namespace {

bool is_zero(std::span<const int> offset) {
  return std::ranges::all_of(offset, [](int step) { return step == 0; });
}

std::vector<int> without_zero(std::span<const int> offsets, std::size_t dimensions) {
  std::vector<int> result;
  for (std::size_t begin = 0; begin < offsets.size(); begin += dimensions)
    if (const auto offset = offsets.subspan(begin, dimensions); !is_zero(offset))
      result.insert(result.end(), offset.begin(), offset.end());
  return result;
}

}  // namespace

std::vector<int> box_offsets(std::size_t dimensions, int radius) {
  return without_zero(cube_offsets(dimensions, 2 * radius + 1, -radius), dimensions);
}

std::vector<int> star_offsets(std::size_t dimensions, int radius) {
  std::vector<int> result;
  for (std::size_t k = 0; k < dimensions; ++k)
    for (int step = -radius; step <= radius; ++step) {
      if (step == 0) continue;
      std::vector<int> offset(dimensions, 0);
      offset[k] = step;
      result.insert(result.end(), offset.begin(), offset.end());
    }
  return result;
}

std::vector<std::int32_t> indices_of(const Neighborhood& neighborhood, std::span<const Bytes> bytes) {
  const auto& [dims, periodic] = neighborhood.grid;
  std::map<std::vector<int>, std::int32_t> count;
  std::vector<std::int32_t> indices(bytes.size(), 0);
  for (int i = 0; i < neighborhood.size(); ++i) {
    if (bytes[static_cast<std::size_t>(i)] == 0) continue;
    const auto offset = neighborhood.offset(i);
    std::vector<int> same(offset.begin(), offset.end());
    for (std::size_t k = 0; k < same.size(); ++k)
      if (periodic[k]) same[k] = modulo(same[k], dims[k]);
    indices[static_cast<std::size_t>(i)] = count[same]++;
  }
  return indices;
}

Pattern pattern_of(const Neighborhood& neighborhood, const NeighborBytes& sizes) {
  const int ranks = neighborhood.grid.ranks();
  if (std::int64_t{ranks} * neighborhood.size() > most_pattern_edges)
    throw InputError("neighbourhood", "it has too many edges", fmt::format("use at most {}", most_pattern_edges));
  Pattern pattern{ranks, {}};
  for (Rank rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < neighborhood.size(); ++i)
      if (const auto target = neighborhood.target(rank, i))
        pattern.edges.push_back(
            {rank, *target, sizes.bytes[static_cast<std::size_t>(i)], sizes.is_same ? 0 : no_payload});
  return pattern;
}

BufferPlaces buffer_places(const Neighborhood& neighborhood, const NeighborBytes& sizes) {
  BufferPlaces places;
  for (Rank rank = 0; rank < neighborhood.grid.ranks(); ++rank) {
    Bytes end = 0;
    for (int i = 0; i < neighborhood.size(); ++i) {
      if (neighborhood.target(rank, i)) {
        places.send.push_back(sizes.is_same ? 0 : end);
        places.receive.push_back(end);
      }
      end += sizes.bytes[static_cast<std::size_t>(i)];
    }
  }
  return places;
}

}  // namespace commpass
