// Least squares under linear inequalities: what physics says of parameters holds while they are fitted. No MPI.
#pragma once

#include <span>
#include <vector>

namespace commpass {

/// coefficients · x against a value.
struct Relation {
  std::vector<double> coefficients;
  double value = 0;
};

/// The x with the least sum of squares of coefficients · x − value over `wanted`, among those for which
/// coefficients · x ≥ value of each of `bounds`. Columns and rows may be of very different sizes.
/// (Lawson and Hanson, Solving Least Squares Problems, ch. 23: problem LSI, by LDP and NNLS)
/// @param wanted  at least one; all relations have as many coefficients
/// @param bounds  that can hold together
std::vector<double> solve_within_bounds(std::span<const Relation> wanted, std::span<const Relation> bounds);

}  // namespace commpass
