// Figures of predictions and choices by published measurements: bounds, and the tables of documents.
#include "bench/few_nodes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "bench/summary.hpp"
#include "bench/world_sets.hpp"
#include "document_table.hpp"
#include "model/base/file.hpp"

namespace commpass::bench {
namespace {

const std::string source = COMMPASS_TEST_SOURCE;

/// A bound a little above a figure, of three digits. Counts, and figures that cannot be better, are their own bounds.
double bound_of(double figure) {
  if (figure == std::floor(figure)) return figure;
  constexpr double margin_ratio = 1.02, digits = 1000;
  return std::ceil(figure * margin_ratio * digits) / digits;
}

// UPDATE_GOLDEN writes bounds for the figures of today.
void expect_bounds(const std::vector<JudgedSet>& judged, const std::vector<FewNodes>& few_nodes) {
  const auto path = source + "/tests/bench/world_bounds.json";
  auto figures = bounded_figures(judged);
  const auto of_few_nodes = bounded_figures(few_nodes);
  for (const auto& [name, value] : of_few_nodes.items()) figures[name] = value;
  if (std::getenv("UPDATE_GOLDEN")) {
    auto bounds = Json::object();
    for (const auto& [name, value] : figures.items()) bounds[name] = bound_of(value.get<double>());
    write_file(path, Json{{"world", bounds}}.dump(1) + "\n");
  }
  const auto bounds = Json::parse(read_file(path), path).at("world");
  for (const auto& [name, value] : figures.items()) {
    ASSERT_TRUE(bounds.contains(name)) << path << " has no bound of " << name << "; UPDATE_GOLDEN=1 writes it";
    EXPECT_LE(value.get<double>(), bounds.at(name).get<double>()) << name;
  }
  EXPECT_EQ(figures.size(), bounds.size()) << path << " has bounds of figures that there are not";
}

void expect_documents(const std::vector<JudgedSet>& judged, const std::vector<FewNodes>& few_nodes) {
  for (const auto& table :
       {prediction_table(judged), algorithm_table(judged), choice_table(judged), few_nodes_table(few_nodes)})
    test::expect_table(source + "/docs/validation.md", table.head, table.rows);
  const auto readme = readme_table(judged);
  test::expect_table(source + "/README.md", readme.head, readme.rows);
}

void expect_no_stalls(const std::vector<JudgedSet>& judged) {
  int checked = 0;
  for (const auto& set : judged) {
    if (!set.judgement.limited_choice) continue;
    EXPECT_EQ(set.judgement.limited_choice->stalled_choices, 0) << set.set.name;
    ++checked;
  }
  EXPECT_GE(checked, 3);
}

TEST(RankCorrelation, IsOfTheOrderAlone) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {10, 20, 1000}).value(), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3}, {3, 2, 1}).value(), -1);
  EXPECT_NEAR(rank_correlation({1, 2, 2, 4}, {1, 3, 2, 4}).value(), 0.9486832980505138, 1e-12);
  EXPECT_FALSE(rank_correlation({1, 1, 1}, {1, 2, 3})) << "there is no order";
}

// In one test: the figures take seconds.
TEST(World, HasTheFiguresOfTheDocumentsWithinBoundsAndNoLimitedChoiceThatStalls) {
  const World world{source + "/bench/world", source + "/profiles"};
  const auto judged = judge_world(world);
  const auto few_nodes = judge_few_nodes(world);
  expect_bounds(judged, few_nodes);
  expect_documents(judged, few_nodes);
  expect_no_stalls(judged);
}

}  // namespace
}  // namespace commpass::bench
