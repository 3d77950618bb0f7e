#include "model/route/grid_way.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace commpass {

GridWay GridWay::of_dimensions(const std::vector<int>& dims, const std::vector<int>& stages) {
  return {dims, dims, stages, stages};
}

int GridWay::stages() const {
  int most = -1;
  for (std::size_t k = 0; k < dims.size(); ++k) most = std::max({most, inner[k], outer[k]});
  return most + 1;
}

std::vector<DigitRange> GridWay::decided_after(int stages) const {
  std::vector<DigitRange> ranges;  // from the lowest up, those that touch as one
  int weight = 1;
  const auto add = [&](int size, int stage) {
    const int low = std::exchange(weight, weight * size);
    if (stage >= stages) return;
    if (!ranges.empty() && ranges.back().high == low) ranges.back().high = weight;
    else ranges.push_back({low, weight});
  };
  for (std::size_t k = dims.size(); k-- > 0;) {
    add(blocks[k], inner[k]);
    add(dims[k] / blocks[k], outer[k]);
  }
  return ranges;
}

GridTravel::GridTravel(const Neighborhood& neighborhood, const GridWay& way, const NeighborBytes& sizes)
    : neighborhood_(neighborhood),
      way_(way),
      sizes_(sizes),
      indices_(indices_of(neighborhood, sizes.bytes)),
      weights_(neighborhood.grid.weights()) {}

// A coordinate of which no digit is corrected is that of the source; one of which all are, that of the destination. Of
// a divided one, blocks having the same size everywhere, the place of the source within its block and that of the
// destination follow from each other.
std::optional<GridTravel::Visitor> GridTravel::visitor(std::span<const int> coordinates, int neighbor,
                                                       int stages) const {
  const auto& grid = neighborhood_.grid;
  const auto offset = neighborhood_.offset(neighbor);
  Visitor result;
  for (std::size_t k = 0; k < coordinates.size(); ++k) {
    const int size = grid.dims[k], block = way_.blocks[k], here = coordinates[k];
    // An offset of at least the size ends beyond the edge, and on a torus only the remainder counts.
    const int step = grid.periodic[k] ? modulo(offset[k], size) : std::clamp(offset[k], -size, size);
    const bool has_inner = way_.inner[k] < stages, has_outer = way_.outer[k] < stages;
    int source = here;
    if (has_inner && has_outer) source = here - step;
    else if (has_inner) source = here - here % block + modulo(here - step, block);
    else if (has_outer) source = here - here % block + modulo(here + step, block) - step;
    int destination = source + step;
    if (grid.periodic[k]) {
      source = modulo(source, size);
      destination = modulo(destination, size);
    } else if (source < 0 || source >= size || destination < 0 || destination >= size) {
      return std::nullopt;
    }
    result.source += source * weights_[k];
    result.destination += destination * weights_[k];
  }
  return result;
}

GridTravel::Traveller GridTravel::traveller(const Visitor& visitor, int neighbor) const {
  const auto i = static_cast<std::size_t>(neighbor);
  return {{.source = visitor.source,
           .destination = visitor.destination,
           .index = indices_[i],
           .bytes = sizes_.bytes[i],
           .payload = sizes_.is_same ? 0 : no_payload},
          neighbor};
}

std::vector<GridTravel::Traveller> GridTravel::at(Rank rank, int stages) const {
  const auto coordinates = neighborhood_.grid.coordinates(rank);
  std::vector<Traveller> result;
  for (int i = 0; i < neighborhood_.size(); ++i) {
    if (sizes_.bytes[static_cast<std::size_t>(i)] == 0) continue;
    const auto found = visitor(coordinates, i, stages);
    if (found && found->source != found->destination && found->destination != rank)
      result.push_back(traveller(*found, i));
  }
  return result;
}

std::vector<GridTravel::Arrival> GridTravel::arrivals(Rank rank, int stage) const {
  const auto coordinates = neighborhood_.grid.coordinates(rank);
  const auto decided = way_.decided_after(stage);
  const auto part = [&](Rank r) {
    int sum = 0;
    for (const auto& range : decided) sum += range.part_of(r);
    return sum;
  };
  struct Coming {
    Rank from;
    Traveller traveller;
  };
  std::vector<Coming> coming;
  for (int i = 0; i < neighborhood_.size(); ++i) {
    if (sizes_.bytes[static_cast<std::size_t>(i)] == 0) continue;
    const auto found = visitor(coordinates, i, stage + 1);
    if (!found || found->source == found->destination) continue;
    const Rank from = part(found->destination) + found->source - part(found->source);
    if (from != rank) coming.push_back({from, traveller(*found, i)});
  }
  std::ranges::sort(coming, {}, [](const Coming& c) {
    const auto& block = c.traveller.block;
    return std::tuple(c.from, block.destination, block.source, block.index);
  });
  std::vector<Arrival> result;
  for (const auto& [from, traveller] : coming) {
    if (result.empty() || result.back().from != from) result.push_back({from, {}});
    result.back().travellers.push_back(traveller);
  }
  return result;
}

}  // namespace commpass
