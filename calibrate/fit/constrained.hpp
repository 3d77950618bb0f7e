// Least squares under linear inequalities, so that fitted parameters keep their physical bounds. No MPI.
#pragma once

#include <span>
#include <vector>

namespace commpass {

/// coefficients · x compared with a value.
struct Relation {
  std::vector<double> coefficients;
  double value = 0;
};

/// Minimizes the sum of squares of coefficients · x − value over `wanted`, where coefficients · x ≥ value of each of
/// `bounds`. Magnitudes of columns and rows may differ by orders.
/// (Lawson and Hanson, Solving Least Squares Problems, ch. 23: problem LSI, by LDP and NNLS)
/// @param wanted  at least one; all relations have as many coefficients
/// @param bounds  feasible together
/// @return x
std::vector<double> solve_within_bounds(std::span<const Relation> wanted, std::span<const Relation> bounds);

}  // namespace commpass
