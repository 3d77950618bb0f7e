// cartesian: the coordinates of blocks on a grid of ranks are corrected dimension by dimension, or several at once.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/route/catalogue.hpp"
#include "model/route/grid_route.hpp"

namespace commpass {

namespace {

std::vector<int> sizes_of(const Strategy& strategy, const char* name) {
  const auto values = strategy.values(name);
  return {values.begin(), values.end()};
}

namespace cartesian {

std::string malformed(const Strategy& strategy) {
  const auto dims = strategy.values("dims"), blocks = strategy.values("blocks"), stages = strategy.values("stages");
  if (dims.empty()) return "it needs dims, the sizes of the grid";
  if (!blocks.empty() && blocks.size() != dims.size()) return "blocks needs a size for each dimension";
  for (std::size_t k = 0; k < blocks.size(); ++k)
    if (dims[k] % blocks[k] != 0) return "blocks must divide the sizes of the grid";
  const auto digits = dims.size() * (blocks.empty() ? 1 : 2);
  if (stages.empty()) return blocks.empty() ? "" : "blocks needs stages";
  if (stages.size() != digits)
    return blocks.empty() ? "stages needs a number for each dimension"
                          : "with blocks, stages needs two numbers for each dimension: those within blocks first";
  const std::set<std::int64_t> numbers(stages.begin(), stages.end());
  return *numbers.rbegin() == std::ssize(numbers) ? "" : "stages must be numbered 1, 2, … without gaps";
}

std::string inapplicable(const Strategy& strategy, const Layout& layout) {
  std::int64_t product = 1;
  for (const auto size : strategy.values("dims")) product = std::min<std::int64_t>(product * size, most_grid_ranks + 1);
  return product == layout.ranks()
             ? ""
             : fmt::format("its grid has {} ranks and the layout has {}", product, layout.ranks());
}

}  // namespace cartesian
}  // namespace

GridWay grid_way(const Strategy& strategy) {
  const auto dims = sizes_of(strategy, "dims");
  auto blocks = sizes_of(strategy, "blocks"), stages = sizes_of(strategy, "stages");
  if (stages.empty())
    for (std::size_t k = 0; k < dims.size(); ++k) stages.push_back(static_cast<int>(k) + 1);
  for (auto& stage : stages) --stage;
  if (blocks.empty()) return GridWay::of_dimensions(dims, stages);
  const auto middle = stages.begin() + std::ssize(dims);
  return {dims, std::move(blocks), {stages.begin(), middle}, {middle, stages.end()}};
}

GridWay grid_way(const Strategy& strategy, const Grid& grid) {
  if (strategy.route == "standard") return GridWay::of_dimensions(grid.dims, std::vector<int>(grid.dims.size(), 0));
  if (strategy.route != "cartesian")
    throw NotApplicable(to_string(strategy), "on a grid where no rank asks another one, cartesian and standard run");
  auto way = grid_way(strategy);
  if (way.dims != grid.dims)
    throw NotApplicable(to_string(strategy), fmt::format("the grid is {}", join(grid.dims, "x")));
  return way;
}

Strategy strategy_of(const GridWay& way) {
  const auto numbered = [](const std::vector<int>& stages) {
    std::vector<std::int64_t> numbers;
    for (const int stage : stages) numbers.push_back(stage + 1);
    return numbers;
  };
  Strategy strategy{"cartesian", {}, {}};
  strategy.set("dims", {way.dims.begin(), way.dims.end()});
  auto stages = numbered(way.inner);
  if (way.is_divided()) {
    strategy.set("blocks", {way.blocks.begin(), way.blocks.end()});
    for (const auto stage : numbered(way.outer)) stages.push_back(stage);
  }
  strategy.set("stages", std::move(stages));
  return strategy;
}

namespace {
namespace cartesian {

std::unique_ptr<Route> make(const Strategy& strategy, const Layout&, const PatternTables&) {
  return std::make_unique<GridRoute>(grid_way(strategy));
}

}  // namespace cartesian
}  // namespace

CatalogueRow cartesian_row() {
  using namespace cartesian;
  using Kind = Parameter::Kind;
  return {.name = "cartesian",
          .usage = "cartesian,dims=P1xP2x...[,blocks=B1xB2x...][,stages=S1xS2x...][,window=W][,staggered]",
          .summary = "message combining on a grid of ranks, dimension by dimension or several at once",
          .source = "Cartesian paper (Träff, Hunold) §3",
          .parameters = {{"dims", Kind::dimensions, 1,
                          "the sizes of the grid, the last dimension varying fastest, with a product of P"},
                         {"blocks", Kind::dimensions, 1,
                          "the sizes of the blocks of the grid, for example those on a node, which divide dims"},
                         {"stages", Kind::dimensions, 1,
                          "for each dimension the stage that corrects it, 1 or more; with blocks first the stages "
                          "within a block, then those of "
                          "the blocks"}},
          .default_window = {},
          .malformed = malformed,
          .inapplicable = inapplicable,
          .make = make,
          // Layouts know no grid: callers with a grid suggest these (selector/choose/grid_strategies.hpp).
          .suggest = [](const Layout&) { return std::vector<Strategy>(); }};
}

}  // namespace commpass
