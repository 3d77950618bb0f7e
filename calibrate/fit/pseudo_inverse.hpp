// Private to calibrate/fit: the one decomposition of matrices that fits need.
#pragma once

#include <Eigen/QR>

namespace commpass {

/// A⁺ (Moore and Penrose): of all x with the least ‖A·x − b‖, A⁺·b is the shortest. The covariance of a fit to samples
/// of variance 1 is (AᵀA)⁺ = A⁺·A⁺ᵀ.
inline Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a) {
  return a.completeOrthogonalDecomposition().pseudoInverse();
}

}  // namespace commpass
