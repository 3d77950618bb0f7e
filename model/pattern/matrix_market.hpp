// A strict reader of Matrix Market coordinate files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// The entries of a sparse matrix as they stand in the file; indices from 0.
struct CoordinateMatrix {
  enum class Field { pattern, integer, real, complex };
  enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Field field = Field::pattern;
  Symmetry symmetry = Symmetry::general;  ///< other than general: the file holds the lower triangle only
  std::vector<std::int64_t> row, column;
  std::vector<double> value;  ///< the real part; empty for pattern matrices
};

/// Reads a matrix and accepts nothing that is not well-formed: a wrong header, indices outside the matrix, an
/// upper-triangle entry in a symmetric file, too few or too many entries, trailing text in a line.
/// @param origin  what to call the text in errors
/// @throws InputError that names the line
CoordinateMatrix parse_matrix_market(std::string_view text, const std::string& origin);

/// What is read of a matrix or pattern file unless more is asked for: some 50 million entries, which take 3 GiB of
/// memory in all.
inline constexpr Bytes most_matrix_bytes = Bytes{1} << 30;

/// Reads the file, gzipped or not.
/// @param most_bytes  refuse files that hold more, counted unpacked
/// @throws InputError
CoordinateMatrix read_matrix_market(const std::string& path, Bytes most_bytes = most_matrix_bytes);

}  // namespace commpass
