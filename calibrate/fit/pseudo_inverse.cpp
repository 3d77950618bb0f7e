#include "calibrate/fit/pseudo_inverse.hpp"

#include <Eigen/QR>

namespace commpass {

Eigen::MatrixXd pseudo_inverse(const Eigen::MatrixXd& a) { return a.completeOrthogonalDecomposition().pseudoInverse(); }

}  // namespace commpass
