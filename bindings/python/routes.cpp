// commpass.native._core: routes whose paths Python lists, and the pictures of paths.
#include <fmt/core.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/python/core.hpp"
#include "commpass/predict.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/cost/cost.hpp"
#include "model/route/listed_route.hpp"
#include "model/schedule/schedule.hpp"
#include "pictures/pictures.hpp"
#include "pictures/svg.hpp"

namespace py = pybind11;

namespace commpass::python {

namespace {

/// What Python tells of a route: its name, its paths as (source, destination, ranks), the names of its stages.
struct Listed {
  std::string name;
  std::vector<std::pair<std::pair<Rank, Rank>, std::vector<Rank>>> paths;
  std::vector<std::string> labels;

  ListedRoute route(const Layout& layout) const {
    std::vector<ListedPath> listed;
    listed.reserve(paths.size());
    for (const auto& [ends, after] : paths) listed.push_back({ends.first, ends.second, after});
    ListedRoute result(layout.ranks(), listed, labels);
    result.seat(layout);
    return result;
  }
};

Prediction predict_listed(const Pattern& pattern, const std::string& profile, const std::string& layout_text,
                          const Listed& listed, const std::string& model) {
  const auto layout = parse_layout(layout_text, pattern.ranks);
  const auto cost = evaluate(make_schedule(listed.route(layout), {}, pattern), layout, find_machine(profile),
                             parse_cost_model(model));
  Prediction result{listed.name, cost.seconds, {}, {}};
  for (const auto& stage : cost.stages) {
    result.stages.push_back({stage.label, stage.messages_max, stage.bytes_max, stage.seconds});
    result.explanation += fmt::format("{}: a rank sends at most {} messages and {}; {}, most of it {}.\n", stage.label,
                                      stage.messages_max, format_bytes(static_cast<double>(stage.bytes_max)),
                                      format_seconds(stage.seconds), describe(stage.dominant()));
  }
  return result;
}

std::pair<std::string, std::string> texts_of(const ExchangeView& view) {
  const auto picture = draw_block_paths(view);
  return {svg_document(picture), picture.csv};
}

std::pair<std::string, std::string> draw_strategy(const Pattern& pattern, const std::string& layout,
                                                  const std::string& strategy) {
  return texts_of(view_exchange(pattern, parse_layout(layout, pattern.ranks), parse_strategy(strategy)));
}

std::pair<std::string, std::string> draw_listed(const Pattern& pattern, const std::string& layout_text,
                                                const Listed& listed) {
  const auto layout = parse_layout(layout_text, pattern.ranks);
  return texts_of(view_route(pattern, layout, listed.route(layout), listed.name));
}

}  // namespace

void bind_routes(py::module_& module) {
  py::class_<Listed>(module, "Listed")
      .def(py::init([](std::string name, decltype(Listed::paths) paths, std::vector<std::string> labels) {
             return Listed{std::move(name), std::move(paths), std::move(labels)};
           }),
           py::arg("name"), py::arg("paths"), py::arg("labels"));
  module.def("predict_listed", &predict_listed, py::arg("pattern"), py::arg("profile"), py::arg("layout"),
             py::arg("listed"), py::arg("model"));
  module.def("draw_strategy", &draw_strategy, py::arg("pattern"), py::arg("layout"), py::arg("strategy"));
  module.def("draw_listed", &draw_listed, py::arg("pattern"), py::arg("layout"), py::arg("listed"));
}

}  // namespace commpass::python
