#include "model/route/grid_route.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/error.hpp"

namespace commpass {

GridRoute::GridRoute(GridWay way) : way_(std::move(way)) {
  std::vector<std::string> labels(at(way_.stages()));
  steps_.resize(labels.size());
  int weight = 1;
  const auto add = [&](std::size_t dimension, int stage, int radix, const char* what) {
    if (radix > 1) {
      auto& label = labels[at(stage)];
      label = fmt::format("{}{}{}", what, dimension + 1, label.empty() ? "" : " + " + label);
      steps_[at(stage)].push_back({weight, radix});
    }
    weight *= radix;
  };
  for (std::size_t k = way_.dims.size(); k-- > 0;) {
    const bool is_divided = way_.blocks[k] > 1 && way_.blocks[k] < way_.dims[k];
    add(k, way_.inner[k], way_.blocks[k], is_divided ? "in block " : "dimension ");
    add(k, way_.outer[k], way_.dims[k] / way_.blocks[k], is_divided ? "block " : "dimension ");
  }
  for (std::size_t stage = 0; stage < labels.size(); ++stage) {
    int values = 1;
    for (const auto& step : steps_[stage]) values *= step.radix;
    stages_.push_back({labels[stage].empty() ? "nothing" : labels[stage], values - 1});
    decided_.push_back(way_.decided_after(static_cast<int>(stage) + 1));
  }
}

Rank GridRoute::next(const Block& block, Rank, int stage) const {
  const auto& decided = decided_[at(stage)];
  return part_of(block.destination, decided) + block.source - part_of(block.source, decided);
}

void GridRoute::next_of_each(std::span<const Block> blocks, std::span<const Rank> holders, int stage,
                             std::span<Rank> to) const {
  for (std::size_t i = 0; i < blocks.size(); ++i) to[i] = GridRoute::next(blocks[i], holders[i], stage);
}

int GridRoute::round(Rank from, Rank to, int stage) const {
  int round = 0, values = 1;
  for (const auto& [weight, radix] : steps_[at(stage)]) {
    round += modulo(to / weight % radix - from / weight % radix, radix) * values;
    values *= radix;
  }
  return round;
}

std::vector<Rank> GridRoute::group(Rank rank, int stage) const {
  std::vector<Rank> members{rank};
  for (const auto& [weight, radix] : steps_[at(stage)]) {
    std::vector<Rank> more;
    for (const Rank member : members)
      for (int value = 0; value < radix; ++value) more.push_back(member + (value - member / weight % radix) * weight);
    members = std::move(more);
  }
  std::ranges::sort(members);
  return members;
}

std::vector<Rank> GridRoute::peers(Rank rank, int stage) const {
  auto result = group(rank, stage);
  std::erase(result, rank);
  return result;
}

std::vector<UniformRun> GridRoute::uniform_runs(Rank, int) const {
  throw NotApplicable("cartesian",
                      "neighbourhoods on its grid are priced by a sample, and all-to-alls have no closed form");
}

}  // namespace commpass
