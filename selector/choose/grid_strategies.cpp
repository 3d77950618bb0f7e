#include "selector/choose/grid_strategies.hpp"

#include <algorithm>

#include "model/pattern/neighborhood_counts.hpp"
#include "model/route/grid_way.hpp"

namespace commpass {

namespace {

/// The sizes of the blocks of a grid, if every part has one of them.
/// @param part_of  by rank, from 0 up, each of `size` ranks
std::optional<std::vector<int>> blocks_of(const Grid& grid, const std::vector<int>& part_of, int size) {
  std::vector<int> blocks(grid.dimensions(), 1);
  for (Rank rank = 0; rank < grid.ranks(); ++rank) {
    if (part_of[static_cast<std::size_t>(rank)] != part_of.front()) continue;
    const auto coordinates = grid.coordinates(rank);
    for (std::size_t k = 0; k < blocks.size(); ++k) blocks[k] = std::max(blocks[k], coordinates[k] + 1);
  }
  int ranks = 1;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    if (grid.dims[k] % blocks[k] != 0) return std::nullopt;
    ranks *= blocks[k];
  }
  if (ranks != size) return std::nullopt;
  for (Rank rank = 0; rank < grid.ranks(); ++rank) {
    auto first = grid.coordinates(rank);
    for (std::size_t k = 0; k < first.size(); ++k) first[k] -= first[k] % blocks[k];
    if (part_of[static_cast<std::size_t>(rank)] != part_of[static_cast<std::size_t>(*grid.rank_at(first))])
      return std::nullopt;
  }
  return blocks;
}

}  // namespace

std::optional<std::vector<int>> node_blocks(const Grid& grid, const Layout& layout) {
  if (layout.nodes() == 1 || layout.max_ppn() == 1 || !layout.even()) return std::nullopt;
  std::vector<int> nodes;
  for (Rank rank = 0; rank < layout.ranks(); ++rank) nodes.push_back(layout.node(rank));
  return blocks_of(grid, nodes, layout.max_ppn());
}

std::optional<std::vector<int>> socket_blocks(const Grid& grid, const Layout& layout) {
  if (layout.sockets() == layout.nodes()) return std::nullopt;
  std::vector<int> sockets;
  for (Rank rank = 0; rank < layout.ranks(); ++rank) sockets.push_back(layout.socket(rank));
  return node_blocks(grid, Layout(sockets));
}

namespace {

/// The stage of each dimension, if those in `order` share one with the one before where `joins` says so.
std::vector<int> stages_of(const std::vector<std::size_t>& order, unsigned joins, int first = 0) {
  std::vector<int> stages(order.size());
  int stage = first;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && (joins >> (i - 1) & 1U) == 0) ++stage;
    stages[order[i]] = stage;
  }
  return stages;
}

int last_of(const std::vector<int>& stages) { return *std::ranges::max_element(stages); }

}  // namespace

Strategy combining_strategy(const Neighborhood& neighborhood) {
  return strategy_of(GridWay::of_dimensions(neighborhood.grid.dims, stages_of(increasing_dimensions(neighborhood), 0)));
}

std::vector<Strategy> suggest_on_grid(const Neighborhood& neighborhood, const Layout& layout) {
  const auto& dims = neighborhood.grid.dims;
  // A dimension of size 1 has nothing to correct, and counts where it costs nothing: last.
  auto order = increasing_dimensions(neighborhood);
  const auto end = std::stable_partition(order.begin(), order.end(), [&](std::size_t k) { return dims[k] > 1; });
  const auto used = static_cast<std::size_t>(end - order.begin());
  const unsigned all = used > 1 ? (1U << (used - 1)) - 1 : 0, ones = ~0U << (used > 0 ? used - 1 : 0);
  std::vector<Strategy> result;
  const auto add = [&](const GridWay& way) {
    if (auto strategy = strategy_of(way); std::ranges::find(result, strategy) == result.end())
      result.push_back(std::move(strategy));
  };
  constexpr unsigned many = 32;  // of more dimensions only few ways
  const unsigned step = std::max(1U, all / many);
  if (used > 1) add(GridWay::of_dimensions(dims, stages_of(order, ones)));
  for (unsigned joins = 0; joins < all; joins += step)
    add(GridWay::of_dimensions(dims, stages_of(order, joins | ones)));
  for (const auto& blocks : {node_blocks(neighborhood.grid, layout), socket_blocks(neighborhood.grid, layout)}) {
    if (!blocks) continue;
    const auto together = stages_of(order, all | ones), one_by_one = stages_of(order, ones);
    const auto after = [&](const std::vector<int>& first, const std::vector<int>& second) {
      std::vector<int> later;
      for (const int stage : second) later.push_back(stage + last_of(first) + 1);
      return later;
    };
    for (const auto& within : {together, one_by_one})
      for (const auto& between : {together, one_by_one}) {
        add({dims, *blocks, after(between, within), between});
        add({dims, *blocks, within, after(within, between)});
      }
  }
  return result;
}

bool is_way_on_grid(const Strategy& strategy) {
  return strategy.coalescing == Coalescing::coalesced &&
         (strategy.route == "cartesian" ||
          (strategy.route == "standard" && strategy.arguments.empty() && strategy.window.unlimited()));
}

std::string on_grid(const std::string& text, const Neighborhood& neighborhood) {
  const auto end = text.find_first_of(",@");
  const auto name = text.substr(0, end), rest = end == std::string::npos ? "" : text.substr(end);
  if (name == "trivial") return "standard" + rest;
  if (name == "cartesian" && rest.find(",dims=") == std::string::npos)
    return to_string(combining_strategy(neighborhood)) + rest;
  return text;
}

}  // namespace commpass
