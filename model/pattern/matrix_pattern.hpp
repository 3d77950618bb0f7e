// The exchange of a distributed sparse matrix–vector product, as a pattern.
#pragma once

#include <vector>

#include "model/pattern/matrix_market.hpp"
#include "model/pattern/pattern.hpp"

namespace commpass {

/// The owner of each row of an n×n matrix when rank i owns rows ⌊i·n/P⌋ … ⌊(i+1)·n/P⌋−1.
std::vector<Rank> block_partition(std::int64_t rows, int ranks);

/// The pattern of y = A·x: rank i receives `value_bytes` from rank j for each distinct column of j's that i's rows
/// touch, once. What a rank owns itself is not moved. A symmetric file stands for both triangles.
/// @param owner   of each row, and, where the matrix is square, of the entry of x with the same number; else x is
///                divided in blocks (block_partition)
/// @param origin  what to call the matrix in errors
/// @throws InputError if an owner is out of range or value_bytes is negative
Pattern matrix_pattern(const CoordinateMatrix& matrix, const std::vector<Rank>& owner, int ranks, Bytes value_bytes,
                       const std::string& origin = "matrix");

/// As matrix_pattern, but told by values: those that one rank owns and the same ranks need are one payload, which has
/// an edge to each of these ranks. So values that several ranks need may travel once.
Pattern shared_value_pattern(const CoordinateMatrix& matrix, const std::vector<Rank>& owner, int ranks,
                             Bytes value_bytes, const std::string& origin = "matrix");

}  // namespace commpass
