#include "selector/commands/picture_arguments.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/format.hpp"
#include "pictures/pictures.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

/// The pictures of a prediction (0 keys) or of a sweep; the first one where none is named.
std::vector<std::string> pictures_of(std::size_t keys) {
  if (keys == 0) return {"cost-bars", "paths", "matrix", "timeline", "layout", "messages", "rates"};
  if (keys == 1) return {"sweep"};
  if (keys == 2) return {"strategy-map"};
  return {};
}

}  // namespace

DrawnPattern find_drawn_pattern(const PredictArguments& arguments) {
  if (arguments.closed_alltoall() || arguments.pattern.one_shot_alltoall() || arguments.one_shot)
    return {{},
            "this exchange is priced without its messages",
            "use a pattern with at most 1024 ranks, without --one-shot"};
  const auto too_many = [](std::int64_t edges) -> DrawnPattern {
    return {{},
            fmt::format("{} edges are too many to draw", edges),
            fmt::format("use a pattern with at most {}", drawn_edges_max)};
  };
  if (const auto cartesian = arguments.pattern.cartesian()) {  // whose edges need not be made to be counted
    const auto edges = std::int64_t{cartesian->neighborhood.grid.ranks()} * cartesian->neighborhood.size();
    if (edges > drawn_edges_max) return too_many(edges);
  }
  auto pattern = arguments.pattern.load();
  if (std::ssize(pattern.edges) > drawn_edges_max) return too_many(std::ssize(pattern.edges));
  return {std::move(pattern), {}, {}};
}

void PictureArguments::add_to(Command& command) {
  command.add({{"--svg", &svg, "also draw a picture into this file, FILE.svg, and write its numbers to FILE.csv"},
               {"--picture",
                &name,
                "which one: cost-bars (the default), paths, matrix, timeline, layout, messages or rates; of a sweep "
                "over one key "
                "sweep, over two strategy-map",
                {.needs = {"--svg"},
                 .words = {"cost-bars", "paths", "matrix", "timeline", "layout", "messages", "rates", "sweep",
                           "strategy-map"}}}});
}

void PictureArguments::check(std::size_t keys) const {
  if (svg.empty()) return;
  check_picture_path(svg);
  const auto known = pictures_of(keys);
  if (known.empty())
    throw InputError("--svg " + svg, fmt::format("a sweep over {} keys has no picture", keys), "sweep one key or two");
  if (!name.empty() && std::ranges::find(known, name) == known.end())
    throw InputError("--picture " + name, "there is none of that name here", fmt::format("use {}", join(known, ", ")));
}

bool PictureArguments::shows_messages() const {
  return name == "paths" || name == "matrix" || name == "timeline" || name == "layout";
}

void PictureArguments::write(const PredictArguments& arguments, const Predicted<Report>& prediction,
                             const ExchangeView* view) const {
  if (svg.empty()) return;
  if (name == "messages") return write_picture(draw_message_times(prediction.profile), svg);
  if (name == "rates") return write_picture(draw_shared_rates(prediction.profile), svg);
  if (name.empty() || name == "cost-bars") {
    constexpr std::size_t enough = 6;
    const auto top = arguments.selection.top;
    return write_picture(draw_cost_bars(prediction.report, top > 0 ? top : enough), svg);
  }
  if (name == "paths") return write_picture(draw_block_paths(*view), svg);
  if (name == "matrix") return write_picture(draw_matrices(*view), svg);
  if (name == "layout") return write_picture(draw_layout(view->layout, view->positions), svg);
  write_picture(draw_timeline(*view, trace_view(*view, prediction.profile.machine)), svg);
}

void PictureArguments::write(const SweepReport& report) const {
  if (!svg.empty()) write_picture(report.keys.size() == 1 ? draw_sweep_lines(report) : draw_strategy_map(report), svg);
}

std::string path_of_numbers(const std::string& svg) {
  if (svg.empty()) return {};
  return std::filesystem::path(svg).replace_extension(".csv").string();
}

void check_picture_path(const std::string& svg) {
  if (std::filesystem::path(svg).extension() != ".svg")
    throw InputError("--svg " + svg, "its name does not end in .svg", "name it for example picture.svg");
  check_writable(svg);
  check_writable(path_of_numbers(svg));
}

void write_picture(const Picture& picture, const std::string& svg) {
  write_file(path_of_numbers(svg), picture.csv);
  write_file(svg, svg_document(picture));
}

}  // namespace commpass
