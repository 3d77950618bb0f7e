#include "selector/commands/picture_arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "model/error.hpp"
#include "model/file.hpp"
#include "pictures/cost_bars.hpp"
#include "pictures/strategy_map.hpp"
#include "pictures/sweep_lines.hpp"

namespace commpass {

namespace {

/// The pictures of a prediction (0 keys) or of a sweep; the first one where none is named.
std::vector<std::string> pictures_of(std::size_t keys) {
  if (keys == 0) return {"cost-bars"};
  if (keys == 1) return {"sweep"};
  if (keys == 2) return {"strategy-map"};
  return {};
}

std::string path_of_numbers(const std::string& svg) {
  return std::filesystem::path(svg).replace_extension(".csv").string();
}

}  // namespace

void PictureArguments::add_to(CLI::App& app) {
  auto* file =
      app.add_option("--svg", svg, "also draw a picture into this file, FILE.svg, and write its numbers to FILE.csv");
  app.add_option("--picture", name, "which one: cost-bars; of a sweep over one key sweep, over two strategy-map")
      ->needs(file);
}

void PictureArguments::check(std::size_t keys) const {
  if (svg.empty()) return;
  if (std::filesystem::path(svg).extension() != ".svg")
    throw InputError("--svg " + svg, "its name does not end in .svg", "name it for example picture.svg");
  const auto known = pictures_of(keys);
  if (known.empty())
    throw InputError("--svg " + svg, fmt::format("a sweep over {} keys has no picture", keys), "sweep one key or two");
  if (!name.empty() && std::ranges::find(known, name) == known.end())
    throw InputError("--picture " + name, "there is none of that name here",
                     fmt::format("use {}", fmt::join(known, ", ")));
  check_writable(svg);
  check_writable(path_of_numbers(svg));
}

void PictureArguments::write([[maybe_unused]] const PredictArguments& arguments, const Prediction& prediction) const {
  if (svg.empty()) return;
  constexpr std::size_t enough = 6;
  const auto top = arguments.selection.top;
  write(draw_cost_bars(prediction.report, top > 0 ? top : enough));
}

void PictureArguments::write(const SweepReport& report) const {
  if (!svg.empty()) write(report.keys.size() == 1 ? draw_sweep_lines(report) : draw_strategy_map(report));
}

void PictureArguments::write(const Picture& picture) const {
  write_file(path_of_numbers(svg), picture.csv);
  write_file(svg, svg_document(picture));
}

}  // namespace commpass
