// In how many stages a halo moves: which dimensions share one, and how messages within a node travel.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/cost/cost.hpp"
#include "model/pattern/halo.hpp"
#include "model/route/data_path.hpp"

namespace commpass {

struct HaloCandidate {
  std::vector<int> stages;  ///< by dimension, from 0 up
  DataPath path{};
  Seconds predicted_s = 0;
  int messages = 0;  ///< of the central rank of the grid

  /// "stages=1x1x2,shared": numbers from 1 up
  std::string name() const;
};

/// A stage for each dimension that has a halo, the last dimension first: then the slabs of the first one lie in one
/// piece.
std::vector<int> stages_of_faces(const HaloArray& array);

/// That, and every way in which dimensions next to each other share a stage, by each path, the cheapest first. All
/// ranks are priced as if they had such an array; of very many a smaller grid.
/// @throws InputError if the machine has no parameters for the layout
std::vector<HaloCandidate> rank_halos(const Grid& grid, const HaloArray& array, const Layout& layout,
                                      const Machine& machine, CostModel model,
                                      std::span<const DataPath> paths = host_paths);

}  // namespace commpass
