// Least squares under inequalities, against a search over all sets of bounds that may hold with equality.
#include "calibrate/fit/constrained.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace commpass {
namespace {

double squares(std::span<const Relation> wanted, const std::vector<double>& x) {
  double sum = 0;
  for (const auto& [row, value] : wanted) {
    double rest = -value;
    for (std::size_t i = 0; i < x.size(); ++i) rest += row[i] * x[i];
    sum += rest * rest;
  }
  return sum;
}

double shortfall(std::span<const Relation> bounds, const std::vector<double>& x) {
  double most = 0;
  for (const auto& [row, value] : bounds) {
    double left = -value;
    for (std::size_t i = 0; i < x.size(); ++i) left += row[i] * x[i];
    most = std::max(most, -left);
  }
  return most;
}

TEST(WithinBounds, IsPlainLeastSquaresWhereNoBoundIsMet) {
  const std::vector<Relation> wanted{{{1, 1}, 3}, {{1, 2}, 5}, {{1, 3}, 7}}, bounds{{{1, 0}, 0}, {{0, 1}, 0}};
  const auto x = solve_within_bounds(wanted, bounds);
  EXPECT_NEAR(x[0], 1, 1e-9);
  EXPECT_NEAR(x[1], 2, 1e-9);
}

TEST(WithinBounds, FitsTheOthersAnewWhereOneIsHeldAndDoesNotJustCutIt) {
  // Falling: a slope of −1 is cut to 0, and the level is then the mean, not the 5 that stood beside the slope.
  const std::vector<Relation> wanted{{{1, 1}, 4}, {{1, 2}, 3}, {{1, 3}, 2}}, bounds{{{1, 0}, 0}, {{0, 1}, 0}};
  const auto x = solve_within_bounds(wanted, bounds);
  EXPECT_NEAR(x[0], 3, 1e-9);
  EXPECT_NEAR(x[1], 0, 1e-12);
}

TEST(WithinBounds, CopesWithSecondsBesideSecondsPerByte) {
  std::vector<Relation> wanted;
  for (const double bytes : {1e5, 1e6, 4e6})
    wanted.push_back({{1 / (3e-6 + 2e-10 * bytes), bytes / (3e-6 + 2e-10 * bytes)}, 1});
  const std::vector<Relation> bounds{{{1, 0}, 0}, {{0, 1}, 0}, {{-1, 0}, -2e-6}};
  const auto x = solve_within_bounds(wanted, bounds);
  EXPECT_NEAR(x[0], 2e-6, 1e-14) << "at its bound";
  EXPECT_NEAR(x[1], 2.03e-10, 0.05e-10);
}

// No point that keeps the bounds may be better: many are drawn around the result.
TEST(WithinBounds, FindsTheLeast) {
  std::mt19937 random(3);
  const auto number = [&] { return static_cast<double>(random()) / 2147483648.0 - 1; };
  constexpr std::size_t columns = 4;
  int held = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Relation> wanted(7), bounds(5);
    const auto draw = [&](Relation& relation) {
      for (std::size_t i = 0; i < columns; ++i) relation.coefficients.push_back(number());
    };
    for (auto& relation : wanted) {
      draw(relation);
      relation.value = number();
    }
    for (auto& relation : bounds) {
      draw(relation);
      relation.value = -0.1 * std::abs(number());  // 0 keeps them all
    }
    const auto x = solve_within_bounds(wanted, bounds);
    ASSERT_LT(shortfall(bounds, x), 1e-9) << round;
    held += shortfall(bounds, solve_within_bounds(wanted, {})) > 1e-6;
    const double least = squares(wanted, x);
    for (int i = 0; i < 300; ++i) {
      const double step = std::pow(10.0, -1 - 4 * std::abs(number()));
      auto other = x;
      for (auto& each : other) each += step * number();
      if (shortfall(bounds, other) <= 0) {
        ASSERT_GT(squares(wanted, other), least - 1e-9) << round;
      }
    }
  }
  EXPECT_GT(held, 50) << "or nothing was tried";
}

}  // namespace
}  // namespace commpass
