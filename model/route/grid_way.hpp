// In which stage which coordinate of a block on a grid is corrected, and the part that every rank can compute alone.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "model/pattern/neighbor_bytes.hpp"
#include "model/route/address.hpp"
#include "model/route/route.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

/// The stages of a way on a grid, whose dimensions may be divided into blocks: then a coordinate is two digits, where
/// in its block a rank is, and in which block. A stage corrects one digit or several at once. All in one stage is the
/// paper's trivial algorithm, one dimension after another its message combining (Cartesian paper §3).
struct GridWay {
  std::vector<int> dims;
  std::vector<int> blocks;        ///< by dimension, the size of a block, which divides that of the dimension
  std::vector<int> inner, outer;  ///< by dimension, the stage from 0 up that corrects the place within the block,
                                  ///< and that which corrects the block
  bool operator==(const GridWay&) const = default;

  /// Without blocks.
  /// @param stages  by dimension, from 0 up
  static GridWay of_dimensions(const std::vector<int>& dims, const std::vector<int>& stages);

  bool is_divided() const { return blocks != dims; }
  int stages() const;
  /// The digits that the first `stages` stages correct, of the numbers of ranks.
  std::vector<DigitRange> decided_after(int stages) const;
};

/// The way of a strategy of the route `cartesian`; one dimension after another, if it names no stages.
GridWay grid_way(const Strategy& strategy);
/// The same, and of `standard` that with one stage. @throws NotApplicable for others, and for another grid
GridWay grid_way(const Strategy& strategy, const Grid& grid);
/// The strategy of a way, with all its stages.
Strategy strategy_of(const GridWay& way);

/// Where the blocks of a neighbourhood are between the stages of a way. Each has one source: the blocks on a rank are
/// found from there, dimension by dimension, without communication.
class GridTravel {
 public:
  /// The first two must outlive this.
  GridTravel(const Neighborhood& neighborhood, const GridWay& way, const NeighborBytes& sizes);

  /// A block on its way, and which neighbour of its source it is for.
  struct Traveller {
    Block block;
    int neighbor = 0;
  };
  /// Those on `rank` after `stages` stages that have not arrived, in the order of neighbours.
  std::vector<Traveller> at(Rank rank, int stages) const;

  /// The blocks that come in one message.
  struct Arrival {
    Rank from = 0;
    std::vector<Traveller> travellers;  ///< in the order of the message (sort_blocks)
  };
  /// The arrivals at `rank` in a stage, by sender.
  std::vector<Arrival> arrivals(Rank rank, int stage) const;

 private:
  /// Of a block that is on a rank at some time.
  struct Visitor {
    Rank source = 0, destination = 0;
  };
  std::optional<Visitor> visitor(std::span<const int> coordinates, int neighbor, int stages) const;
  Traveller traveller(const Visitor& visitor, int neighbor) const;

  const Neighborhood& neighborhood_;
  const GridWay& way_;
  NeighborBytes sizes_;
  std::vector<std::int32_t> indices_;
  std::vector<int> weights_;
};

}  // namespace commpass
