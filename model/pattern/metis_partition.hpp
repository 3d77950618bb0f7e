// Which rank owns which row of a matrix, so that few bytes move: by METIS, an optional library.
#pragma once

#include <string>
#include <vector>

#include "model/base/types.hpp"
#include "model/pattern/matrix_market.hpp"

namespace commpass {

/// The owner of each row of a square matrix: METIS' k-way partition (Karypis, Kumar 1998) of the graph of A + Aᵀ into
/// `ranks` parts of about as many rows each, cutting few entries. The seed is fixed, so the same matrix gives the same
/// owners. As many ranks as rows or more: row i belongs to rank i.
/// @param origin  what to call the matrix in errors
/// @throws InputError if the matrix is not square or too large for METIS, or Commpass was built without METIS
std::vector<Rank> metis_partition(const CoordinateMatrix& matrix, int ranks, const std::string& origin = "matrix");

}  // namespace commpass
