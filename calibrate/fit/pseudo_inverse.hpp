// The one decomposition of matrices that fits need.
#pragma once

#include <Eigen/Core>

namespace commpass {

/// A⁺ (Moore and Penrose): of all x with the least ‖A·x − b‖, A⁺·b is the shortest. (AᵀA)⁺, the covariance of what is
/// fitted to samples of variance 1, is A⁺·A⁺ᵀ.
Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a);

}  // namespace commpass
