#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "model/base/error.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

enum class Move { stays, within_node, to_other_node };
constexpr Look move_looks[] = {{0, 0}, {7, 1}, {5, 2}};
constexpr const char* move_names[] = {"plays its own part", "plays that of another rank of its node",
                                      "plays that of a rank of another node"};

Move move_of(const Layout& layout, std::span<const Rank> positions, Rank rank) {
  if (positions.empty() || positions[at(rank)] == rank) return Move::stays;
  return layout.node(positions[at(rank)]) == layout.node(rank) ? Move::within_node : Move::to_other_node;
}

}  // namespace

Picture draw_layout(const Layout& layout, std::span<const Rank> positions, const Frame& frame) {
  if (layout.ranks() > drawn_ranks_max)
    throw InputError("--picture layout", fmt::format("{} ranks are too many to draw", layout.ranks()),
                     fmt::format("use at most {}", drawn_ranks_max));
  std::array<int, 3> moved{};
  for (Rank rank = 0; rank < layout.ranks(); ++rank)
    ++moved[static_cast<std::size_t>(move_of(layout, positions, rank))];
  const double width = frame.width;
  constexpr double left = picture_margin, apart = 10, square = 11, step = 13, caption = 16;
  // Boxes are nearly square.
  const auto columns = std::max(1, static_cast<int>(std::ceil(std::sqrt(layout.max_ppn() * 1.6))));
  const int lines = (layout.max_ppn() + columns - 1) / columns;
  const double box_width = std::max(columns * step + 6, text_width(fmt::format("node {}", layout.nodes() - 1), 11) + 6);
  const double box_height = caption + lines * step + 6;
  const int in_a_row = std::max(1, static_cast<int>((width - 2 * left + apart) / (box_width + apart)));
  const auto summary =
      positions.empty()
          ? std::string("Every rank plays its own part.")
          : fmt::format(
                "Placement: {} ranks play the part of a rank of another node, {} of another rank of their node, "
                "{} their own.",
                moved[2], moved[1], moved[0]);
  Svg svg(frame, "Layout: " + layout.describe(),
          fmt::format("{}: which ranks sit on which node. {}", layout.describe(), summary));
  double y = svg.head(summary + " Squares are ranks, in their order.");
  Legend legend;
  for (std::size_t m = 0; m < moved.size(); ++m)
    if (moved[m] > 0) legend.emplace_back(move_looks[m], move_names[m]);
  y = svg.legend(left, y, width - 2 * left, legend) + 4;
  const bool has_groups = layout.groups() > 1;
  auto squares = csv_table("rank node socket plays");
  if (has_groups) squares.columns.push_back({"group"});
  const auto draw_node = [&](int node, double x, double top) {
    svg.rect(x, top, box_width, box_height, "axis hollow");
    svg.text(x + 4, top + 12, fmt::format("node {}", node), "dim", Anchor::start, 11);
    int place = 0;
    for (const auto rank : layout.ranks_of(node)) {
      const auto plays = positions.empty() ? rank : positions[at(rank)];
      const auto move = move_of(layout, positions, rank);
      const int column = place % columns, line = place / columns;
      svg.mark(x + 4 + column * step, top + caption + line * step, square, square,
               move_looks[static_cast<std::size_t>(move)],
               plays == rank ? fmt::format("rank {}, socket {}", rank, layout.socket(rank))
                             : fmt::format("rank {}, socket {}, plays rank {} of node {}", rank, layout.socket(rank),
                                           plays, layout.node(plays)));
      ++place;
      squares.add({rank, node, layout.socket(rank), plays, layout.group(node)});
    }
  };
  for (int group = 0; group < layout.groups(); ++group) {
    if (has_groups) {
      svg.text(left, y + 12, fmt::format("group {}", group), "ink strong");
      y += caption + 4;
    }
    int drawn = 0;
    for (int node = 0; node < layout.nodes(); ++node) {
      if (layout.group(node) != group) continue;
      const int column = drawn % in_a_row, row = drawn / in_a_row;
      draw_node(node, left + column * (box_width + apart), y + row * (box_height + apart));
      ++drawn;
    }
    const int rows = (drawn + in_a_row - 1) / in_a_row;
    y += rows * (box_height + apart);
  }
  Document numbers;
  numbers.facts({{"schema_version", 1},
                 {"layout", layout.describe()},
                 {"ranks", layout.ranks()},
                 {"plays_other_node", moved[2]},
                 {"plays_same_node", moved[1]},
                 {"plays_itself", moved[0]}});
  numbers.add(std::move(squares));
  return std::move(svg).finish(y + 4, numbers);
}

}  // namespace commpass
