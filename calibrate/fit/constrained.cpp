#include "calibrate/fit/constrained.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <limits>

#include "calibrate/fit/pseudo_inverse.hpp"
#include "model/base/types.hpp"

namespace commpass {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The u ≥ 0 with the least ‖E·u − f‖ (Lawson and Hanson, algorithm NNLS).
VectorXd solve_non_negative(const MatrixXd& e, const VectorXd& f) {
  constexpr double tolerance = 1e-12;
  VectorXd u = VectorXd::Zero(e.cols());
  std::vector<Index> free;
  const auto is_free = [&](Index i) { return std::ranges::find(free, i) != free.end(); };
  const Index rounds_max = 10 * (e.cols() + 1);  // only rounding errors need it
  for (Index round = 0; round < rounds_max; ++round) {
    const VectorXd gradient = e.transpose() * (f - e * u);
    Index best = -1;
    for (Index i = 0; i < e.cols(); ++i)
      if (!is_free(i) && gradient[i] > tolerance && (best < 0 || gradient[i] > gradient[best])) best = i;
    if (best < 0) break;
    free.push_back(best);
    while (!free.empty()) {
      const VectorXd solved = pseudo_inverse(e(Eigen::all, free)) * f;
      if (solved.minCoeff() > 0) {
        u.setZero();
        for (std::size_t i = 0; i < free.size(); ++i) u[free[i]] = solved[static_cast<Index>(i)];
        break;
      }
      // Moves towards the solution while all components are positive. A component that reaches 0 is no longer free.
      double part = 1;
      for (std::size_t i = 0; i < free.size(); ++i) {
        const double from = u[free[i]], to = solved[static_cast<Index>(i)];
        if (to <= 0) part = std::min(part, from / std::max(from - to, std::numeric_limits<double>::min()));
      }
      for (std::size_t i = 0; i < free.size(); ++i) u[free[i]] += part * (solved[static_cast<Index>(i)] - u[free[i]]);
      std::erase_if(free, [&](Index i) { return u[i] <= tolerance; });
    }
  }
  return u;
}

/// The shortest z with G·z ≥ h (problem LDP).
VectorXd solve_least_distance(const MatrixXd& g, const VectorXd& h) {
  MatrixXd e(g.cols() + 1, g.rows());
  e << g.transpose(), h.transpose();
  VectorXd f = VectorXd::Zero(e.rows());
  f[e.rows() - 1] = 1;
  const VectorXd rest = e * solve_non_negative(e, f) - f;
  return -rest.head(g.cols()) / rest[g.cols()];
}

}  // namespace

std::vector<double> solve_within_bounds(std::span<const Relation> wanted, std::span<const Relation> bounds) {
  const auto columns = static_cast<Index>(wanted.front().coefficients.size());
  const auto to_matrix = [&](std::span<const Relation> relations, MatrixXd& coefficients, VectorXd& values) {
    coefficients.resize(static_cast<Index>(relations.size()), columns);
    values.resize(static_cast<Index>(relations.size()));
    for (Index i = 0; i < coefficients.rows(); ++i) {
      const auto& [row, value] = relations[at(i)];
      for (Index k = 0; k < columns; ++k) coefficients(i, k) = row[at(k)];
      values[i] = value;
    }
  };
  MatrixXd a, g;
  VectorXd b, h;
  to_matrix(wanted, a, b);
  to_matrix(bounds, g, h);

  // Seconds stand beside seconds per byte, so columns and bounds are scaled to length 1.
  const VectorXd scale = a.colwise().norm().cwiseMax(std::numeric_limits<double>::min());
  a = a * scale.cwiseInverse().asDiagonal();
  g = g * scale.cwiseInverse().asDiagonal();
  const VectorXd lengths = g.rowwise().norm().cwiseMax(std::numeric_limits<double>::min());
  g = lengths.cwiseInverse().asDiagonal() * g;
  h = lengths.cwiseInverse().asDiagonal() * h;
  const double size = std::max(b.norm(), std::numeric_limits<double>::min());

  // Keeps undetermined components small.
  constexpr double regularization = 1e-8;
  MatrixXd full(a.rows() + columns, columns);
  full << a, regularization * MatrixXd::Identity(columns, columns);
  VectorXd right = VectorXd::Zero(full.rows());
  right.head(b.size()) = b / size;

  // If the best x breaks a bound, A·x moves by the least distance, which stays in A's range.
  const MatrixXd inverse = pseudo_inverse(full);
  VectorXd x = inverse * right;
  if (((g * x - h / size).array() < 0).any()) x += inverse * solve_least_distance(g * inverse, h / size - g * x);
  std::vector<double> result;
  for (Index i = 0; i < columns; ++i) result.push_back(size * x[i] / scale[i]);
  return result;
}

}  // namespace commpass
