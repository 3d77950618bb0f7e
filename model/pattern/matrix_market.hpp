// A strict reader of Matrix Market files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// The entries of a sparse matrix as they stand in the file; indices from 0.
struct CoordinateMatrix {
  /// The kind of its values.
  enum class Field { pattern, integer, real, complex };
  /// Which of its entries are in the file.
  enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

  std::int64_t rows = 0;                  ///< of the matrix
  std::int64_t columns = 0;               ///< of the matrix
  Field field = Field::pattern;           ///< pattern: there are no values
  Symmetry symmetry = Symmetry::general;  ///< other than general: the file holds the lower triangle only
  std::vector<std::int64_t> row, column;  ///< of each entry
  std::vector<double> value;  ///< the real part, infinite where it is beyond a double; empty for pattern matrices
};

/// The most rows and columns of a matrix that is read.
inline constexpr std::int64_t most_matrix_rows = std::int64_t{1} << 28;

/// The number that a text is, to the nearest double: infinite or zero where it is beyond one. Nothing for "inf", "nan"
/// and other texts.
std::optional<double> parse_decimal(std::string_view text);

/// Reads a matrix (coordinate or array) and accepts nothing that is not well-formed: a wrong header, indices outside
/// the matrix, an upper-triangle entry in a symmetric file, too few or too many entries, trailing text in a line.
/// @param origin  what to call the text in errors
/// @throws InputError that names the line
CoordinateMatrix parse_matrix_market(std::string_view text, const std::string& origin);

}  // namespace commpass
