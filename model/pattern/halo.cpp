#include "model/pattern/halo.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "model/base/error.hpp"

namespace commpass {

Bytes HaloArray::bytes() const {
  Bytes bytes = cell_bytes;
  for (std::size_t k = 0; k < extent.size(); ++k) bytes *= size(k);
  return bytes;
}

void HaloArray::validate(const Grid& grid, const std::string& place) const {
  if (extent.size() != grid.dimensions() || depth.size() != grid.dimensions())
    throw InputError(place,
                     fmt::format("the grid has {} dimensions, the array {} and the depth {}", grid.dimensions(),
                                 extent.size(), depth.size()),
                     "give as many of each");
  if (cell_bytes < 1) throw InputError(place, fmt::format("a cell has {} bytes", cell_bytes), "use 1 or more");
  double bytes = static_cast<double>(cell_bytes);
  for (std::size_t k = 0; k < extent.size(); ++k) {
    if (extent[k] < 1)
      throw InputError(place, fmt::format("dimension {} has {} cells", k + 1, extent[k]), "use 1 or more");
    if (depth[k] < 0 || depth[k] > extent[k])
      throw InputError(place,
                       fmt::format("the halo of dimension {} is {} deep, of {} cells", k + 1, depth[k], extent[k]),
                       "use 0 to as many as there are cells");
    bytes *= static_cast<double>(extent[k]) + 2.0 * depth[k];
  }
  constexpr Bytes most = std::numeric_limits<Bytes>::max() / 2;
  if (bytes > static_cast<double>(most)) throw InputError(place, "the array has too many bytes", "use a smaller one");
}

Bytes HaloRegion::bytes(const HaloArray& array) const {
  Bytes bytes = array.cell_bytes;
  for (std::size_t k = 0; k < begin.size(); ++k) bytes *= std::max(0, end[k] - begin[k]);
  return bytes;
}

namespace {

/// Moves a direction on, in those dimensions of the stage that have a halo. @return false after the last one
bool advance(std::vector<int>& direction, const std::vector<bool>& is_free) {
  for (std::size_t k = direction.size(); k-- > 0;) {
    if (!is_free[k]) continue;
    if (++direction[k] <= 1) return true;
    direction[k] = -1;
  }
  return false;
}

}  // namespace

std::vector<HaloMessage> halo_messages(const Grid& grid, Rank rank, const HaloArray& array,
                                       const std::vector<int>& stages, int stage) {
  const auto d = grid.dimensions();
  const auto coordinates = grid.coordinates(rank);
  std::vector<bool> is_free(d);
  std::vector<int> direction(d, 0);
  HaloRegion all;  // including the halo in the dimensions of other stages
  for (std::size_t k = 0; k < d; ++k) {
    is_free[k] = stages[k] == stage && array.depth[k] > 0;
    if (is_free[k]) direction[k] = -1;
    const bool is_done = stages[k] < stage;
    const bool has_low = is_done && (grid.periodic[k] || coordinates[k] > 0);
    const bool has_high = is_done && (grid.periodic[k] || coordinates[k] + 1 < grid.dims[k]);
    all.begin.push_back(has_low ? 0 : array.depth[k]);
    all.end.push_back(array.depth[k] + array.extent[k] + (has_high ? array.depth[k] : 0));
  }
  std::vector<HaloMessage> messages;
  do {
    if (std::ranges::all_of(direction, [](int step) { return step == 0; })) continue;
    auto& message = messages.emplace_back(HaloMessage{direction, all, all});
    for (std::size_t k = 0; k < d; ++k) {
      if (direction[k] == 0) continue;
      const int depth = array.depth[k], extent = array.extent[k];
      auto &sent = message.sent, &received = message.received;
      sent.begin[k] = direction[k] < 0 ? depth : extent;  // the cells next to that side
      sent.end[k] = sent.begin[k] + depth;
      received.begin[k] = direction[k] < 0 ? depth + extent : 0;  // the halo of the other one
      received.end[k] = received.begin[k] + depth;
    }
  } while (advance(direction, is_free));
  return messages;
}

}  // namespace commpass
