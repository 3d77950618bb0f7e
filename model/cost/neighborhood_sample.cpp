// The blocks are found from the ranks of the node, without those of the other nodes (GridTravel).
#include "model/cost/neighborhood_sample.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "model/base/error.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/grid_way.hpp"

namespace commpass {

namespace {

/// Of the nodes with the most ranks that which is nearest to the middle of the grid.
int central_node(const Grid& grid, const Layout& layout) {
  std::vector<int> middle;
  for (const int size : grid.dims) middle.push_back(size / 2);
  const Rank rank = *grid.rank_at(middle);
  const auto distance = [&](int node) { return std::abs(layout.ranks_of(node).front() - rank); };
  int best = layout.node(rank);
  if (layout.ppn(best) == layout.max_ppn()) return best;
  best = -1;
  for (int node = 0; node < layout.nodes(); ++node)
    if (layout.ppn(node) == layout.max_ppn() && (best < 0 || distance(node) < distance(best))) best = node;
  return best;
}

/// A block of a source for one of its neighbours, in the order of pattern_of.
struct Passing {
  Rank source = 0;
  int neighbor = 0;
  Rank destination = 0;
  auto operator<=>(const Passing&) const = default;
};

/// The blocks that begin, end or are held between stages on these ranks.
std::vector<Passing> blocks_passing(std::span<const Rank> ranks, const Neighborhood& neighborhood,
                                    const NeighborBytes& sizes, const GridWay& way) {
  const GridTravel travel(neighborhood, way, sizes);
  std::vector<Passing> result;
  const auto add = [&](std::span<const GridTravel::Traveller> travellers) {
    for (const auto& [block, neighbor] : travellers) result.push_back({block.source, neighbor, block.destination});
  };
  for (const Rank rank : ranks) {
    for (int i = 0; i < neighborhood.size(); ++i)
      if (neighborhood.target(rank, i) == rank) result.push_back({rank, i, rank});
    add(travel.at(rank, 0));
    for (int stage = 0; stage < way.stages(); ++stage)
      for (const auto& arrival : travel.arrivals(rank, stage)) add(arrival.travellers);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// The ranks of the nodes that hold a block at some time.
std::vector<Rank> holders_of(std::span<const Passing> blocks, int node, const Route& route, const Layout& layout) {
  std::vector<bool> is_holder(at(layout.nodes()), false);
  is_holder[at(node)] = true;
  std::vector<Rank> after(route.stages().size());
  for (const auto& block : blocks) {
    is_holder[at(layout.node(block.source))] = true;
    route.way(block.source, block.destination, after);
    for (const Rank rank : after) is_holder[at(layout.node(rank))] = true;
  }
  std::vector<Rank> ranks;
  for (int n = 0; n < layout.nodes(); ++n)
    if (is_holder[at(n)]) std::ranges::copy(layout.ranks_of(n), std::back_inserter(ranks));
  std::ranges::sort(ranks);
  return ranks;
}

/// A route of some ranks, in numbers of their own.
class RouteOfSome final : public Route {
 public:
  /// @param number  by rank of all
  RouteOfSome(std::unique_ptr<Route> route, std::vector<Rank> ranks, std::vector<Rank> number)
      : route_(std::move(route)), ranks_(std::move(ranks)), number_(std::move(number)) {
    if (route_->sends_large_first()) send_large_first();
  }

  const std::vector<StageInfo>& stages() const override { return route_->stages(); }
  Rank next(const Block& block, Rank holder, int stage) const override {
    auto own = block;
    own.source = ranks_[at(block.source)];
    own.destination = ranks_[at(block.destination)];
    return number_[at(route_->next(own, ranks_[at(holder)], stage))];
  }
  int round(Rank from, Rank to, int stage) const override {
    return route_->round(ranks_[at(from)], ranks_[at(to)], stage);
  }
  std::vector<UniformRun> uniform_runs(Rank rank, int stage) const override {
    return route_->uniform_runs(ranks_[at(rank)], stage);
  }

 private:
  std::unique_ptr<Route> route_;
  std::vector<Rank> ranks_, number_;
};

}  // namespace

NeighborhoodPart part_of_neighborhood(const Neighborhood& neighborhood, const Strategy& strategy,
                                      const NeighborBytes& sizes, const Layout& given, const Machine& machine) {
  const auto layout = given.on(machine);
  const auto& grid = neighborhood.grid;
  if (grid.ranks() != layout.ranks())
    throw InputError("layout", fmt::format("it has {} ranks but the grid has {}", layout.ranks(), grid.ranks()),
                     "use a layout for the ranks of the grid");
  auto route = make_route(strategy, layout);
  const int node = central_node(grid, layout);
  const auto sampled = layout.ranks_of(node);
  const auto blocks = blocks_passing(sampled, neighborhood, sizes, grid_way(strategy, grid));
  auto ranks = holders_of(blocks, node, *route, layout);
  std::vector<Rank> number(at(layout.ranks()), -1);
  for (std::size_t i = 0; i < ranks.size(); ++i) number[at(ranks[i])] = static_cast<Rank>(i);

  std::vector<Bytes> place{0};  // by neighbour, in a buffer
  for (const auto bytes : sizes.bytes) place.push_back(place.back() + bytes);
  Pattern pattern{static_cast<int>(ranks.size()), {}};
  BufferPlaces places;
  for (const auto& [source, neighbor, destination] : blocks) {
    pattern.edges.push_back(
        {number[at(source)], number[at(destination)], sizes.bytes[at(neighbor)], sizes.is_same ? 0 : no_payload});
    places.send.push_back(sizes.is_same ? 0 : place[at(neighbor)]);
    places.receive.push_back(place[at(neighbor)]);
  }
  const auto own = layout_of_part(layout, ranks).on(machine);
  NeighborhoodPart part{
      {}, own, own.node(number[at(sampled.front())]), part_of_ranks(layout, sampled, sampled.size()), {}};
  part.route = std::make_unique<RouteOfSome>(std::move(route), std::move(ranks), std::move(number));
  part.route->seat(own);
  part.schedule = make_schedule(*part.route, {}, prepare(pattern, places));
  return part;
}

Sample sample_of(const NeighborhoodPart& part) {
  auto sample = sample_of_nodes(part.schedule, part.layout, {{part.node}, 1}, 1);
  sample.part = part.part;
  return sample;
}

}  // namespace commpass
