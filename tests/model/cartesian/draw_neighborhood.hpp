// Random neighbourhoods, and ways on their grids.
#pragma once

#include <algorithm>
#include <random>

#include "model/route/grid_way.hpp"

namespace commpass::test {

/// On a grid of up to 5 dimensions, some of size 1 or 2, periodic or not; offsets are repeated, zero, larger than the
/// grid, and lead to the same rank.
struct DrawnNeighborhood {
  Neighborhood neighborhood;
  NeighborBytes sizes;
  GridWay way;

  /// @param ranks  of the grid: the most, or the exact number
  DrawnNeighborhood(int seed, int ranks, bool exactly = false) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    auto& grid = neighborhood.grid;
    const int d = 1 + draw(5);
    int left = ranks;
    for (int k = 0; k < d; ++k) {
      int size = 1 + draw(std::min(left, 6));
      if (exactly)
        while (left % size != 0) --size;
      if (exactly && k + 1 == d) size = left;
      grid.dims.push_back(size);
      grid.periodic.push_back(draw(2) == 0);
      left /= size;
    }
    std::shuffle(grid.dims.begin(), grid.dims.end(), random);
    const int reach = 1 + draw(4), t = draw(20);
    for (int i = 0; i < t * d; ++i) {
      const int kind = draw(12);
      neighborhood.offsets.push_back(kind == 0 ? draw(41) - 20 : kind < 5 ? 0 : draw(2 * reach + 1) - reach);
    }
    sizes.is_same = draw(2) == 0;
    const Bytes same = draw(30);
    for (int i = 0; i < t; ++i) sizes.bytes.push_back(sizes.is_same ? same : draw(4) == 0 ? 0 : draw(30));

    const auto n = static_cast<std::size_t>(d);
    std::vector<int> blocks = grid.dims;
    if (draw(2) == 0)
      for (std::size_t k = 0; k < n; ++k) do
          blocks[k] = 1 + draw(grid.dims[k]);
        while (grid.dims[k] % blocks[k] != 0);
    std::vector<int> stages(2 * n);
    for (auto& stage : stages) stage = draw(2 * d);
    if (blocks == grid.dims) std::copy_n(stages.begin(), n, stages.begin() + d);
    std::vector<int> used = stages;  // without gaps
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (auto& stage : stages) stage = static_cast<int>(std::ranges::find(used, stage) - used.begin());
    way = {grid.dims, blocks, {stages.begin(), stages.begin() + d}, {stages.begin() + d, stages.end()}};
  }
};

}  // namespace commpass::test
