// commpass.native._core: patterns, profiles and predictions, without MPI.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bindings/python/core.hpp"
#include "bindings/python/translate_errors.hpp"
#include "commpass/predict.hpp"
#include "model/machine/profile_lookup.hpp"
#include "model/pattern/pattern_statistics.hpp"
#include "selector/environment/environment.hpp"

namespace py = pybind11;

namespace {

using namespace commpass;
using Integers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

Pattern pattern_of(int ranks, const Integers& sources, const Integers& destinations, const Integers& bytes) {
  if (sources.ndim() != 1 || destinations.ndim() != 1 || bytes.ndim() != 1 || sources.size() != bytes.size() ||
      destinations.size() != bytes.size())
    throw InputError("Pattern", "sources, destinations and bytes are not three lists of one length",
                     "give one of each for every edge");
  Pattern pattern{ranks, {}};
  pattern.edges.reserve(static_cast<std::size_t>(bytes.size()));
  for (py::ssize_t i = 0; i < bytes.size(); ++i) {
    const auto source = sources.at(i), destination = destinations.at(i);
    for (const auto rank : {source, destination})
      if (rank < 0 || rank >= ranks)
        throw InputError("Pattern", "edge " + std::to_string(i) + " has rank " + std::to_string(rank),
                         "use ranks from 0 to " + std::to_string(ranks - 1));
    pattern.edges.push_back({static_cast<Rank>(source), static_cast<Rank>(destination), bytes.at(i)});
  }
  pattern.validate("Pattern");
  return pattern;
}

/// The entries of a matrix as its pattern; without owners, block_partition.
Pattern pattern_of_matrix(std::int64_t row_count, std::int64_t column_count, const Integers& rows,
                          const Integers& columns, int ranks, const std::vector<Rank>& owner, Bytes value_bytes,
                          bool is_shared) {
  CoordinateMatrix matrix;
  matrix.rows = row_count;
  matrix.columns = column_count;
  const auto take = [](const Integers& from, std::int64_t count, const char* name) {
    std::vector<std::int64_t> numbers(from.data(), from.data() + from.size());
    for (const auto number : numbers)
      if (number < 0 || number >= count)
        throw InputError("Pattern.from_matrix", "an entry has the " + std::string(name) + " " + std::to_string(number),
                         "use 0 to " + std::to_string(count - 1));
    return numbers;
  };
  if (rows.size() != columns.size())
    throw InputError("Pattern.from_matrix", "entries have not as many rows as columns", "give one of each");
  matrix.row = take(rows, row_count, "row");
  matrix.column = take(columns, column_count, "column");
  const auto owners = owner.empty() ? block_partition(row_count, ranks) : owner;
  return (is_shared ? shared_value_pattern : matrix_pattern)(matrix, owners, ranks, value_bytes, "Pattern.from_matrix");
}

/// The node of each rank.
std::vector<int> nodes_of(const std::string& text, int ranks) {
  const auto layout = parse_layout(text, ranks);
  std::vector<int> nodes;
  for (Rank rank = 0; rank < layout.ranks(); ++rank) nodes.push_back(layout.node(rank));
  return nodes;
}

/// A member of all edges as an array.
template <auto member>
py::array_t<std::int64_t> column(const Pattern& pattern) {
  py::array_t<std::int64_t> result(static_cast<py::ssize_t>(pattern.edges.size()));
  std::ranges::transform(pattern.edges, result.mutable_data(), [](const Edge& edge) { return edge.*member; });
  return result;
}

py::dict spread(const Spread& of) {
  using namespace py::literals;
  return py::dict("min"_a = of.min, "mean"_a = of.mean, "max"_a = of.max);
}

py::dict numbers_of(const Pattern& pattern) {
  using namespace py::literals;
  const auto of = statistics(pattern);
  return py::dict("ranks"_a = of.ranks, "idle_ranks"_a = of.idle_ranks, "messages"_a = of.total.messages,
                  "bytes"_a = of.total.bytes, "self_bytes"_a = of.self_bytes, "sends"_a = spread(of.sends),
                  "receives"_a = spread(of.receives), "send_bytes"_a = spread(of.send_bytes),
                  "receive_bytes"_a = spread(of.receive_bytes), "symmetry"_a = name_of(of.symmetry));
}

std::vector<std::string> profile_paths() {
  return list_profiles(profile_directories(read_environment().profile_places));
}

std::vector<Prediction> predicted(const Pattern& pattern, const std::string& profile, const std::string& layout,
                                  const std::vector<std::string>& strategies, const std::string& model) {
  return predict(pattern, layout, find_machine(profile), {strategies, parse_cost_model(model), {}});
}

void bind_patterns(py::module_& module) {
  py::class_<Pattern>(module, "Pattern")
      .def(py::init(&pattern_of), py::arg("ranks"), py::arg("sources"), py::arg("destinations"), py::arg("bytes"))
      .def_static("of_matrix", &pattern_of_matrix)
      .def_static(
          "generate", [](const std::string& text) { return generate_pattern(text); }, py::arg("text"))
      .def_static(
          "read", [](const std::string& path) { return read_pattern(path); }, py::arg("path"))
      .def("write", &write_pattern, py::arg("path"))
      .def_readonly("ranks", &Pattern::ranks)
      .def_property_readonly("sources", &column<&Edge::source>)
      .def_property_readonly("destinations", &column<&Edge::destination>)
      .def_property_readonly("bytes", &column<&Edge::bytes>)
      .def("statistics", &numbers_of);
}

void bind_predictions(py::module_& module) {
  py::class_<PredictedStage>(module, "Stage")
      .def_readonly("label", &PredictedStage::label)
      .def_readonly("messages_max", &PredictedStage::messages_max)
      .def_readonly("bytes_max", &PredictedStage::bytes_max)
      .def_readonly("seconds", &PredictedStage::seconds);
  py::class_<Prediction>(module, "Prediction")
      .def_readonly("strategy", &Prediction::strategy)
      .def_readonly("seconds", &Prediction::seconds)
      .def_readonly("stages", &Prediction::stages)
      .def_readonly("explanation", &Prediction::explanation);
  module.def("predict", &predicted, py::arg("pattern"), py::arg("profile"), py::arg("layout"), py::arg("strategies"),
             py::arg("model"));
  module.def("profile_paths", &profile_paths);
  module.def("nodes_of", &nodes_of, py::arg("layout"), py::arg("ranks"));
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  commpass::python::translate_errors();
  bind_patterns(module);
  bind_predictions(module);
  commpass::python::bind_routes(module);
  module.attr("version") = COMMPASS_VERSION;
}
