#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "pictures/pictures.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

/// Blocks of the traced rank that go from one rank to another in a stage, or stay on a rank.
struct Hop {
  std::size_t stage = 0;
  Rank from = 0, to = 0;
  auto operator<=>(const Hop&) const = default;
};
using Hops = std::map<Hop, std::set<Rank>>;  // the destinations of these blocks

Hops hops_of(const ExchangeView& view) {
  Hops hops;
  for (const auto& path : view.paths) {
    Rank holder = view.traced;
    for (std::size_t s = 0; s < path.after.size(); holder = path.after[s++])
      if (holder != path.destination) hops[{s, holder, path.after[s]}].insert(path.destination);
  }
  return hops;
}

Document numbers_of(const ExchangeView& view, const Hops& hops) {
  auto lines = json_table("hops", "stage from to destinations");
  auto table = csv_table("stage from to destination");
  for (const auto& [hop, destinations] : hops) {
    lines.add({hop.stage + 1, hop.from, hop.to, join(destinations, " ")});
    for (const auto destination : destinations) table.add({hop.stage + 1, hop.from, hop.to, destination});
  }
  Document numbers;
  numbers.facts({{"schema_version", 1}, {"strategy", view.strategy}, {"sender", view.traced}});
  numbers.add(std::move(lines));
  numbers.add(std::move(table));
  return numbers;
}

}  // namespace

std::vector<BlockPath> trace_blocks(const Route& route, const Pattern& pattern, Rank sender) {
  Pattern sent{pattern.ranks, {}};
  std::ranges::copy_if(pattern.edges, std::back_inserter(sent.edges),
                       [&](const Edge& edge) { return edge.source == sender; });
  auto blocks = blocks_of(sent);
  route.cut(blocks);
  std::vector<BlockPath> paths;
  for (const auto& block : blocks) {
    auto& path = paths.emplace_back(BlockPath{block.destination, {}});
    Rank holder = block.source;
    for (int stage = 0; stage < static_cast<int>(route.stages().size()); ++stage)
      path.after.push_back(holder = route.next(block, holder, stage));
  }
  return paths;
}

Picture draw_block_paths(const ExchangeView& view, const Frame& frame) {
  const auto& layout = view.layout;
  if (layout.ranks() > path_ranks_max)
    throw InputError("--picture paths", fmt::format("{} ranks are too many to draw", layout.ranks()),
                     fmt::format("use at most {}", path_ranks_max));
  const auto& stages = view.schedule.stages;
  const auto hops = hops_of(view);
  std::set<Rank> forwarders;
  for (const auto& [hop, destinations] : hops)
    if (hop.from != view.traced) forwarders.insert(hop.from);
  const auto& strategy = view.strategy;
  const auto summary = forwarders.empty() ? fmt::format("No rank forwards blocks of rank {}.", view.traced)
                                          : fmt::format("Ranks that forward blocks of rank {}: {}.", view.traced,
                                                        join(forwarders, ", "));
  Svg svg(frame, "Paths of blocks: " + strategy,
          fmt::format("Which ranks hold the blocks of rank {} after each stage of {}, on {}. {}", view.traced, strategy,
                      layout.describe(), summary));
  constexpr double left = 100, right = 60, row = 22, node_gap = 14, caption = 20, label_width = 190;
  double y = svg.head(
      fmt::format("Bold: blocks of rank {}, dotted while they wait on a rank. Thin: all messages. A number counts the "
                  "blocks that share a message. A square marks a destination. {}",
                  view.traced, summary));
  const double top = y + caption;
  const auto y_of = [&](Rank rank) { return top + (rank + 0.5) * row + layout.node(rank) * node_gap; };
  const double bottom = top + layout.ranks() * row + (layout.nodes() - 1) * node_gap;
  const double step = std::min(
      label_width, (frame.width - left - right) / static_cast<double>(std::max<std::size_t>(1, stages.size())));
  const auto x_of = [&](std::size_t after) { return left + step * static_cast<double>(after); };
  for (int node = 0; node < layout.nodes(); ++node) {
    const auto ranks = layout.ranks_of(node);
    svg.rect(picture_margin, y_of(ranks.front()) - row / 2, x_of(stages.size()) + 20 - picture_margin,
             row * static_cast<double>(ranks.size()), "axis hollow", fmt::format("node {}", node));
  }
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    svg.text(left - 10, y_of(rank) + 4, fmt::format("rank {}", rank), rank == view.traced ? "ink strong" : "ink",
             Anchor::end, 11);
  const Look look{5, 0};
  for (std::size_t s = 0; s < stages.size(); ++s) {
    svg.text((x_of(s) + x_of(s + 1)) / 2, top - 6,
             shorten(fmt::format("{}: {}", s + 1, stages[s].info.label), 11, step - 8), "dim", Anchor::middle, 11);
    for (const auto& message : stages[s].messages)
      svg.line(x_of(s), y_of(message.from), x_of(s + 1), y_of(message.to), "axis thin");
  }
  for (const auto& [hop, destinations] : hops) {
    const double x = x_of(hop.stage), end = x_of(hop.stage + 1), from = y_of(hop.from), to = y_of(hop.to);
    const std::pair<double, double> points[] = {{x, from}, {end, to}};
    svg.curve(points, hop.from == hop.to ? Look{look.color, 2} : look);
    constexpr double near_end = 0.8;
    if (hop.from != hop.to && destinations.size() > 1)
      svg.text(x + near_end * (end - x), from + near_end * (to - from) - 4, std::to_string(destinations.size()),
               "ink strong", Anchor::middle, 11);
    if (destinations.contains(hop.to))
      svg.mark(end - 4, to - 4, 8, 8, look, fmt::format("rank {} has its block after stage {}", hop.to, hop.stage + 1));
  }
  return std::move(svg).finish(bottom + 12, numbers_of(view, hops));
}

}  // namespace commpass
