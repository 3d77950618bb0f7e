// Routes that correct the coordinates of blocks on a grid, in one stage one of them or several at once.
#pragma once

#include <vector>

#include "model/route/grid_way.hpp"
#include "model/route/route.hpp"

namespace commpass {

/// As AddressRoute, with several digits a stage. The round of a message is the number that its steps make, each around
/// its own dimension, so that on a torus all ranks send in the same rounds.
class GridRoute final : public Route {
 public:
  explicit GridRoute(GridWay way);

  const std::vector<StageInfo>& stages() const override { return stages_; }
  Rank next(const Block& block, Rank at, int stage) const override;
  void next_of_each(std::span<const Block> blocks, std::span<const Rank> at, int stage,
                    std::span<Rank> to) const override;
  int round(Rank from, Rank to, int stage) const override;
  std::vector<Rank> peers(Rank rank, int stage) const override;
  std::vector<Rank> group(Rank rank, int stage) const override;
  /// @throws NotApplicable: neighbourhoods are priced by samples (model/cost/neighborhood_sample.hpp)
  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override;

 private:
  /// A digit that a stage corrects: number ÷ weight mod radix.
  struct Step {
    int weight = 1, radix = 1;
  };
  GridWay way_;
  std::vector<StageInfo> stages_;
  std::vector<std::vector<DigitRange>> decided_;  // by stage, after it
  std::vector<std::vector<Step>> steps_;          // by stage
};

}  // namespace commpass
