#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/axis.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

constexpr int pattern_bins_max = 512, stage_bins_max = 256;

/// Bytes by sender and receiver; a bin is several consecutive ranks.
struct Matrix {
  std::string name;
  int bins = 1, ranks_each = 1;
  std::vector<double> cells;  // bins × bins
  std::int64_t messages = 0;
  double bytes = 0;

  Matrix(std::string title, int ranks, int bins_max) : name(std::move(title)) {
    ranks_each = (ranks + bins_max - 1) / bins_max;
    bins = (ranks + ranks_each - 1) / ranks_each;
    cells.assign(at(bins) * at(bins), 0);
  }
  void add(Rank from, Rank to, Bytes size) {
    ++messages;
    bytes += static_cast<double>(size);
    cells[at(from / ranks_each) * at(bins) + at(to / ranks_each)] += static_cast<double>(size);
  }
  std::string totals() const { return fmt::format("{} messages, {}", messages, format_bytes(bytes)); }
};

std::vector<Matrix> matrices_of(const ExchangeView& view) {
  std::vector<Matrix> result;
  auto& before = result.emplace_back("the pattern", view.pattern.ranks, pattern_bins_max);
  for (const auto& edge : view.pattern.edges)
    if (edge.bytes > 0 && edge.source != edge.destination) before.add(edge.source, edge.destination, edge.bytes);
  for (std::size_t s = 0; s < view.schedule.stages.size(); ++s) {
    const auto& stage = view.schedule.stages[s];
    auto& matrix =
        result.emplace_back(fmt::format("stage {}: {}", s + 1, stage.info.label), view.pattern.ranks, stage_bins_max);
    for (const auto& message : stage.messages) matrix.add(message.from, message.to, message.bytes);
  }
  return result;
}

/// From light to dark; the first colour is that of empty cells.
std::array<Rgb, png_colors> palette() {
  constexpr Rgb light{190, 218, 240}, dark{8, 40, 92};
  std::array<Rgb, png_colors> colors{};
  const auto mix = [](std::uint8_t a, std::uint8_t b, double t) { return static_cast<std::uint8_t>(a + (b - a) * t); };
  for (int c = 1; c < png_colors; ++c) {
    const double t = (c - 1) / (png_colors - 2.0);
    colors[at(c)] = {mix(light.red, dark.red, t), mix(light.green, dark.green, t), mix(light.blue, dark.blue, t)};
  }
  return colors;
}

/// The index of a colour on a logarithmic scale of bytes.
struct Shades {
  ValueRange range;

  std::uint8_t operator()(double bytes) const {
    if (bytes <= 0) return 0;
    if (range.max <= range.min) return png_colors - 1;
    const double t = std::log(bytes / range.min) / std::log(range.max / range.min);
    return static_cast<std::uint8_t>(1 + std::lround(std::clamp(t, 0.0, 1.0) * (png_colors - 2)));
  }
};

std::string bitmap_of(const Matrix& matrix, const Shades& shades) {
  std::vector<std::uint8_t> pixels(matrix.cells.size());
  std::ranges::transform(matrix.cells, pixels.begin(), shades);
  return png(matrix.bins, matrix.bins, pixels, palette());
}

Document numbers_of(const ExchangeView& view, const std::vector<Matrix>& matrices) {
  auto list = json_table("matrices", "name messages bytes cells ranks_in_a_cell most_bytes_in_a_cell");
  auto lines = csv_table("matrix first_sender first_receiver ranks_in_a_cell bytes");
  for (const auto& matrix : matrices) {
    list.add(
        {matrix.name, matrix.messages, matrix.bytes, matrix.bins, matrix.ranks_each, std::ranges::max(matrix.cells)});
    for (std::size_t c = 0; c < matrix.cells.size(); ++c)
      if (matrix.cells[c] > 0)
        lines.add({matrix.name, c / at(matrix.bins) * at(matrix.ranks_each),
                   c % at(matrix.bins) * at(matrix.ranks_each), matrix.ranks_each, matrix.cells[c]});
  }
  Document numbers;
  numbers.facts({{"schema_version", 1}, {"strategy", view.strategy}, {"ranks", view.pattern.ranks}});
  numbers.add(std::move(list));
  numbers.add(std::move(lines));
  return numbers;
}

}  // namespace

Picture draw_matrices(const ExchangeView& view, const Frame& frame) {
  const auto matrices = matrices_of(view);
  Shades shades;
  std::string totals;
  for (const auto& matrix : matrices) {
    for (const auto cell : matrix.cells)
      if (cell > 0) shades.range.add(cell);
    append(totals, "; {}: {}", matrix.name, matrix.totals());
  }
  constexpr double left = 30, side = 236, apart = 24, caption = 42;
  const auto in_a_row = static_cast<std::size_t>(std::max(1.0, (frame.width - left + apart) / (side + apart)));
  const auto& strategy = view.strategy;
  Svg svg(frame, "Traffic between ranks: " + strategy,
          fmt::format("Bytes by sender (down) and receiver (to the right), in the pattern and in each stage of {}{}.",
                      strategy, totals));
  const auto ranks_of = [](int ranks) { return ranks == 1 ? "a rank" : fmt::format("{} ranks", ranks); };
  double y = svg.head(
      fmt::format("Senders go down, receivers to the right, both from rank 0 to {}. A cell is {} in the "
                  "pattern, {} in a stage. Lines divide nodes.",
                  view.pattern.ranks - 1, ranks_of(matrices.front().ranks_each), ranks_of(matrices.back().ranks_each)));
  // The scale is a bitmap of one row.
  std::array<std::uint8_t, png_colors - 1> steps{};
  std::iota(steps.begin(), steps.end(), std::uint8_t{1});
  if (shades.range.max > 0) {
    const auto least = format_bytes(shades.range.min);
    svg.text(left, y + 10, least, "dim", Anchor::start, 11);
    const double from = left + text_width(least, 11) + 6;
    svg.image(from, y, 150, 12, png(png_colors - 1, 1, steps, palette()), "bytes in a cell, logarithmic");
    svg.text(from + 156, y + 10, format_bytes(shades.range.max) + " in a cell", "dim", Anchor::start, 11);
  }
  y += 26;
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    const auto& matrix = matrices[m];
    const double x = left + static_cast<double>(m % in_a_row) * (side + apart);
    const double top = y + static_cast<double>(m / in_a_row) * (side + caption);
    svg.text(x, top + 11, shorten(matrix.name, 12, side), m == 0 ? "ink strong" : "ink");
    svg.text(x, top + 25, matrix.totals(), "dim", Anchor::start, 11);
    const double image = side - caption + 36;
    svg.rect(x, top + 31, image, image, "paper");
    svg.image(x, top + 31, image, image, bitmap_of(matrix, shades), matrix.name + ": " + matrix.totals());
    constexpr int lined_nodes_max = 40;
    if (view.layout.is_in_order_of_nodes() && view.layout.nodes() <= lined_nodes_max)
      for (int node = 1; node < view.layout.nodes(); ++node) {
        const double share =
            view.layout.ranks_of(node).front() / static_cast<double>(matrix.bins * matrix.ranks_each) * image;
        svg.line(x + share, top + 31, x + share, top + 31 + image, "grid thin");
        svg.line(x, top + 31 + share, x + image, top + 31 + share, "grid thin");
      }
    svg.rect(x, top + 31, image, image, "axis hollow");
  }
  const auto rows = (matrices.size() + in_a_row - 1) / in_a_row;
  return std::move(svg).finish(y + static_cast<double>(rows) * (side + caption) + 4, numbers_of(view, matrices));
}

}  // namespace commpass
