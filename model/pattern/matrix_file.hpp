// Files of matrices, in the forms in which people have them.
#pragma once

#include <string>
#include <string_view>

#include "model/base/types.hpp"
#include "model/pattern/matrix_market.hpp"

namespace commpass {

/// The most bytes that are read of a matrix or pattern file by default: some 50 million entries, which take 3 GiB of
/// memory in all.
inline constexpr Bytes most_matrix_bytes = Bytes{1} << 30;

/// Reads a matrix in one of these forms, which is found by its content:
/// - Matrix Market, coordinate or array;
/// - a PETSc binary matrix (`MatView`), sparse or dense, real or complex, indices of 4 or 8 bytes;
/// - a table: rows of as many numbers as there are rows or, for a rectangular matrix, as each row has;
/// - a list of edges: rows `from to bytes` or `from to`, indices from 0. A table of three or two columns is a list
///   unless it is square. A first line of words names its columns, and makes it a list in any case; without one, a list
///   that never names rank 0 is refused, as it may count from 1.
/// Numbers of tables and lists are separated by blanks, tabs, commas or semicolons; `#` and `%` begin comments.
/// @param origin  what to call the contents in errors
/// @throws InputError that names the line or, of other files, their likely format
CoordinateMatrix parse_matrix(std::string_view contents, const std::string& origin);

/// Reads the file, gzipped or not.
/// @param most_bytes  refuse files that hold more, counted unpacked
/// @throws InputError
CoordinateMatrix read_matrix(const std::string& path, Bytes most_bytes = most_matrix_bytes);

}  // namespace commpass
