#include "selector/commands/picture_arguments.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "pictures/pictures.hpp"

namespace commpass {

const std::vector<std::string> PictureArguments::of_prediction{"cost-bars", "paths",    "matrix", "timeline",
                                                               "layout",    "messages", "rates"};
const std::vector<std::string> PictureArguments::of_sensitivity{"sensitivity"}, PictureArguments::of_pareto{"pareto"};

std::vector<std::string> PictureArguments::of_sweep(std::size_t keys) const {
  if (keys == 1) return {"sweep"};
  if (keys == 2) return {"strategy-map"};
  if (!file.is_asked_for()) return {};
  throw InputError("--svg " + file.path, fmt::format("a sweep over {} keys has no picture", keys),
                   "sweep one key or two");
}

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
  file.add_to(command, "also draw a picture into this file");
  command.add({{"--picture",
                &name,
                "which one: cost-bars (the default), paths, matrix, timeline, layout, messages or rates; of a sweep "
                "over one key "
                "sweep, over two strategy-map; of --sensitivity and --pareto these",
                {.needs = {"--svg"},
                 .words = {"cost-bars", "paths", "matrix", "timeline", "layout", "messages", "rates", "sweep",
                           "strategy-map", "sensitivity", "pareto"}}}});
}

void PictureArguments::check(const std::vector<std::string>& known) const {
  if (!file.is_asked_for()) return;
  file.check();
  if (!name.empty() && std::ranges::find(known, name) == known.end())
    throw InputError("--picture " + name, "there is none of that name here", fmt::format("use {}", join(known, ", ")));
  if (name == "matrix" && file.file().ends_with(".pgf"))
    throw InputError("--picture matrix", "it has bitmaps, which TikZ cannot draw", "use pdf");
}

bool PictureArguments::shows_messages() const {
  return name == "paths" || name == "matrix" || name == "timeline" || name == "layout";
}

void PictureArguments::write(const PredictArguments& arguments, const Predicted<Report>& prediction,
                             const ExchangeView* view) const {
  if (!file.is_asked_for()) return;
  const auto shown = name.empty() ? "cost-bars" : name;
  const auto frame = file.frame(shown);
  const auto draw = [&] {
    if (shown == "messages") return draw_message_times(prediction.profile, nullptr, frame);
    if (shown == "rates") return draw_shared_rates(prediction.profile, frame);
    if (shown == "paths") return draw_block_paths(*view, frame);
    if (shown == "matrix") return draw_matrices(*view, frame);
    if (shown == "layout") return draw_layout(*view, frame);
    if (shown == "timeline") return draw_timeline(*view, trace_view(*view, prediction.profile.machine), frame);
    constexpr std::size_t enough = 6;
    const auto top = arguments.selection.top;
    return draw_cost_bars(prediction.report, top > 0 ? top : enough, frame);
  };
  file.write(draw());
}

void PictureArguments::write(const SweepReport& report) const {
  if (!file.is_asked_for()) return;
  file.write(report.keys.size() == 1 ? draw_sweep_lines(report, file.frame("sweep"))
                                     : draw_strategy_map(report, file.frame("strategy-map")));
}

void PictureArguments::write(const SensitivityReport& report) const {
  if (file.is_asked_for()) file.write(draw_sensitivity(report, file.frame("sensitivity")));
}

void PictureArguments::write_pareto(const Report& report) const {
  if (file.is_asked_for()) file.write(draw_pareto_front(report, file.frame("pareto")));
}

}  // namespace commpass
