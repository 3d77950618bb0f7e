#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

enum class Move { stays, within_node, to_other_node };
constexpr double move_sizes[] = {0, 2, 4};  // of a dot in the square, pixels
constexpr const char* move_names[] = {"", "plays the part of another rank of its node",
                                      "plays the part of a rank of another node"};

Move move_of(const ExchangeView& view, Rank rank) {
  const auto& layout = view.layout;
  const auto& positions = view.positions;
  if (positions.empty() || positions[at(rank)] == rank) return Move::stays;
  return layout.node(positions[at(rank)]) == layout.node(rank) ? Move::within_node : Move::to_other_node;
}

/// The messages of all stages by rank, and the bytes that leave each node.
struct Loads {
  std::vector<Bytes> sent, received, left_node;

  explicit Loads(const ExchangeView& view)
      : sent(at(view.layout.ranks())), received(sent), left_node(at(view.layout.nodes())) {
    for (const auto& stage : view.schedule.stages)
      for (const auto& message : stage.messages) {
        sent[at(message.from)] += message.bytes;
        received[at(message.to)] += message.bytes;
        if (const int node = view.layout.node(message.from); node != view.layout.node(message.to))
          left_node[at(node)] += message.bytes;
      }
  }
  Bytes of(Rank rank) const { return sent[at(rank)] + received[at(rank)]; }
};

/// The colour of a load: a class of picture_style.
std::string shade_of(Bytes load, Bytes most) {
  if (load == 0) return "axis hollow";
  return fmt::format("s{}", std::lround((shade_count - 1) * static_cast<double>(load) / static_cast<double>(most)));
}

/// The dot of a rank that plays the part of another one.
void draw_move(Svg& svg, double x, double y, double square, Move move) {
  const double size = move_sizes[static_cast<std::size_t>(move)];
  if (size > 0) svg.rect(x + (square - size) / 2, y + (square - size) / 2, size, size, "ink edge");
}

/// @return the y below
double draw_color_bar(Svg& svg, double x, double y, double room, Bytes most) {
  constexpr double step_max = 14, height = 12, gap = 6, size = 11;
  const auto last = format_bytes(static_cast<double>(most)) + " sent and received by a rank";
  const double step = std::min(step_max, (room - text_width("0 B" + last, size) - 2 * gap) / shade_count);
  svg.text(x, y + 10, "0 B", "dim", Anchor::start, size);
  x += text_width("0 B", size) + gap;
  for (int shade = 0; shade < shade_count; ++shade)
    svg.rect(x + shade * step, y, step, height, fmt::format("s{}", shade));
  svg.text(x + shade_count * step + gap, y + 10, last, "dim", Anchor::start, size);
  return y + height + 10;
}

}  // namespace

Picture draw_layout(const ExchangeView& view, const Frame& frame) {
  const auto& layout = view.layout;
  if (layout.ranks() > drawn_ranks_max)
    throw InputError("--picture layout", fmt::format("{} ranks are too many to draw", layout.ranks()),
                     fmt::format("use at most {}", drawn_ranks_max));
  const Loads loads(view);
  std::array<int, 3> moved{};
  Rank busiest = 0;
  double total = 0;
  for (Rank rank = 0; rank < layout.ranks(); ++rank) {
    ++moved[static_cast<std::size_t>(move_of(view, rank))];
    if (loads.of(rank) > loads.of(busiest)) busiest = rank;
    total += static_cast<double>(loads.of(rank));
  }
  const auto most = loads.of(busiest);
  const double mean = total / layout.ranks();
  const double width = frame.width;
  constexpr double left = picture_margin, apart = 10, square = 11, step = 13, caption = 16;
  // Boxes are nearly square.
  const auto columns = std::max(1, static_cast<int>(std::ceil(std::sqrt(layout.max_ppn() * 1.6))));
  const int lines = (layout.max_ppn() + columns - 1) / columns;
  const double box_width = std::max(columns * step + 6, text_width(fmt::format("node {}", layout.nodes() - 1), 11) + 6);
  const double box_height = caption + lines * step + 6;
  const int in_a_row = std::max(1, static_cast<int>((width - 2 * left + apart) / (box_width + apart)));
  auto summary = most == 0 ? std::string("No rank sends.")
                           : fmt::format("Rank {} has the largest load, {}: {} times the mean of all ranks, {}.",
                                         busiest, format_bytes(static_cast<double>(most)),
                                         format_fixed(static_cast<double>(most) / mean, 2), format_bytes(mean));
  if (!view.positions.empty())
    summary += fmt::format(
        " Placement: {} ranks play the part of a rank of another node, {} of another rank of their node, {} their own.",
        moved[2], moved[1], moved[0]);
  Svg svg(frame, "Load of ranks: " + view.strategy,
          fmt::format("{}: the bytes that each rank sends and receives in all stages of {}. {}", layout.describe(),
                      view.strategy, summary));
  double y =
      svg.head(fmt::format("{}. Squares are ranks, in their order; colours are bytes that they send and receive, "
                           "forwarded ones among them. {}",
                           layout.describe(), summary));
  if (most > 0) y = draw_color_bar(svg, left, y, width - 2 * left, most);
  for (std::size_t m = 1; m < moved.size(); ++m) {
    if (moved[m] == 0) continue;
    svg.rect(left, y, square, square, "faint");
    draw_move(svg, left, y, square, static_cast<Move>(m));
    svg.text(left + square + 6, y + 10, move_names[m]);
    y += 19;
  }
  y += 4;
  const bool has_groups = layout.groups() > 1;
  auto squares = csv_table("rank node socket plays sent_bytes received_bytes");
  if (has_groups) squares.columns.push_back({"group"});
  const auto draw_node = [&](int node, double x, double top) {
    svg.rect(
        x, top, box_width, box_height, "axis hollow",
        fmt::format("node {}: {} to other nodes", node, format_bytes(static_cast<double>(loads.left_node[at(node)]))));
    svg.text(x + 4, top + 12, fmt::format("node {}", node), "dim", Anchor::start, 11);
    int place = 0;
    for (const auto rank : layout.ranks_of(node)) {
      const auto plays = view.positions.empty() ? rank : view.positions[at(rank)];
      const auto sent = loads.sent[at(rank)], received = loads.received[at(rank)];
      auto tip = fmt::format("rank {}, socket {}: sends {}, receives {}", rank, layout.socket(rank),
                             format_bytes(static_cast<double>(sent)), format_bytes(static_cast<double>(received)));
      if (plays != rank) append(tip, ", plays rank {} of node {}", plays, layout.node(plays));
      const int column = place % columns, line = place / columns;
      const double at_x = x + 4 + column * step, at_y = top + caption + line * step;
      svg.rect(at_x, at_y, square, square, shade_of(sent + received, most), tip);
      draw_move(svg, at_x, at_y, square, move_of(view, rank));
      ++place;
      squares.add({rank, node, layout.socket(rank), plays, sent, received, layout.group(node)});
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
                 {"strategy", view.strategy},
                 {"layout", layout.describe()},
                 {"ranks", layout.ranks()},
                 {"busiest_rank", busiest},
                 {"load_bytes_max", most},
                 {"load_bytes_mean", mean},
                 {"plays_other_node", moved[2]},
                 {"plays_same_node", moved[1]},
                 {"plays_itself", moved[0]}});
  numbers.add(std::move(squares));
  return std::move(svg).finish(y + 4, numbers);
}

}  // namespace commpass
