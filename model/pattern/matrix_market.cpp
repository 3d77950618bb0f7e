#include "model/pattern/matrix_market.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/pattern/text_lines.hpp"

namespace commpass {

namespace {

/// The words of a line; at most four are ever needed, a fifth is kept so that it is noticed.
struct Words {
  explicit Words(std::string_view line) {
    while (count < word.size()) {
      const auto first = line.find_first_not_of(" \t");
      if (first == std::string_view::npos) return;
      line.remove_prefix(first);
      const auto end = std::min(line.find_first_of(" \t"), line.size());
      word[count++] = line.substr(0, end);
      line.remove_prefix(end);
    }
  }
  std::array<std::string_view, 6> word;
  std::size_t count = 0;
};

template <class Value, std::size_t count>
std::optional<Value> look_up(const std::array<std::pair<const char*, Value>, count>& table, const std::string& key) {
  for (const auto& [name, value] : table)
    if (key == name) return value;
  return std::nullopt;
}

/// @return is the matrix dense: a value for each entry?
bool read_header(TextLines& in, CoordinateMatrix& matrix) {
  using Field = CoordinateMatrix::Field;
  using Symmetry = CoordinateMatrix::Symmetry;
  constexpr std::array<std::pair<const char*, Field>, 4> fields{
      {{"pattern", Field::pattern}, {"integer", Field::integer}, {"real", Field::real}, {"complex", Field::complex}}};
  constexpr std::array<std::pair<const char*, Symmetry>, 4> symmetries{{{"general", Symmetry::general},
                                                                        {"symmetric", Symmetry::symmetric},
                                                                        {"skew-symmetric", Symmetry::skew_symmetric},
                                                                        {"hermitian", Symmetry::hermitian}}};

  const auto line = in.next();
  const Words words(line.value_or(""));
  constexpr std::size_t header_words = 5;
  const auto form = lower_case(words.word[2]);
  const bool right_kind = words.count == header_words && words.word[0] == "%%MatrixMarket" &&
                          lower_case(words.word[1]) == "matrix" && (form == "coordinate" || form == "array");
  const auto field = right_kind ? look_up(fields, lower_case(words.word[3])) : std::nullopt;
  const auto symmetry = right_kind ? look_up(symmetries, lower_case(words.word[4])) : std::nullopt;
  if (!field || !symmetry || (form == "array" && *field == Field::pattern))
    throw in.error("it is no header of a Matrix Market file",
                   "start the file with '%%MatrixMarket matrix coordinate real general'");
  matrix.field = *field;
  matrix.symmetry = *symmetry;
  return form == "array";
}

/// @return the number of entries that are announced; of a dense matrix, that it has
std::int64_t read_size(TextLines& in, bool is_dense, CoordinateMatrix& matrix) {
  const auto line = in.next_content();
  const Words words(line.value_or(""));
  const std::size_t size_words = is_dense ? 2 : 3;
  const auto rows = parse_number<std::int64_t>(words.word[0]);
  const auto columns = parse_number<std::int64_t>(words.word[1]);
  const auto entries = is_dense ? std::optional<std::int64_t>(0) : parse_number<std::int64_t>(words.word[2]);
  if (words.count != size_words || !rows || !columns || !entries || *rows < 1 || *columns < 1 || *entries < 0)
    throw in.error("it is no size line",
                   fmt::format("write '{}', all positive", is_dense ? "rows columns" : "rows columns entries"));
  // Guards the arithmetic of users of the sizes, and refuses lines that can only be damaged.
  if (*rows > most_matrix_rows || *columns > most_matrix_rows)
    throw in.error(fmt::format("{} x {} is larger than Commpass reads", *rows, *columns),
                   fmt::format("use at most {} rows and columns", most_matrix_rows));
  if (matrix.symmetry != CoordinateMatrix::Symmetry::general && *rows != *columns)
    throw in.error(fmt::format("a symmetric matrix cannot be {} x {}", *rows, *columns),
                   "correct the header or the sizes");
  matrix.rows = *rows;
  matrix.columns = *columns;
  if (!is_dense) return *entries;
  switch (matrix.symmetry) {
    case CoordinateMatrix::Symmetry::general: return *rows * *columns;
    case CoordinateMatrix::Symmetry::skew_symmetric: return *rows * (*rows - 1) / 2;
    default: return *rows * (*rows + 1) / 2;
  }
}

std::size_t values_per_entry(CoordinateMatrix::Field field) {
  switch (field) {
    case CoordinateMatrix::Field::pattern: return 0;
    case CoordinateMatrix::Field::complex: return 2;
    default: return 1;
  }
}

/// The values of an entry. @return the real part; nothing if they are not what the header promises
std::optional<double> read_values(const Words& words, std::size_t first, CoordinateMatrix::Field field) {
  const auto values = values_per_entry(field);
  if (words.count != first + values) return std::nullopt;
  double real_part = 0;
  for (std::size_t i = 0; i < values; ++i) {
    const auto value = parse_decimal(words.word[first + i]);
    if (!value || (field == CoordinateMatrix::Field::integer && *value != std::floor(*value))) return std::nullopt;
    if (i == 0) real_part = *value;
  }
  return real_part;
}

/// The lines after the size line of a dense matrix: columns one after the other. Zeros are no entries.
void read_columns(TextLines& in, std::int64_t entries, CoordinateMatrix& matrix) {
  const bool is_general = matrix.symmetry == CoordinateMatrix::Symmetry::general;
  const std::int64_t below = matrix.symmetry == CoordinateMatrix::Symmetry::skew_symmetric ? 1 : 0;
  std::int64_t read = 0;
  for (std::int64_t column = 0; column < matrix.columns; ++column)
    for (std::int64_t row = is_general ? 0 : column + below; row < matrix.rows; ++row, ++read) {
      const auto line = in.next_content();
      if (!line)
        throw in.error(fmt::format("the file ends after {} of {} values", read, entries), "fetch the whole file again");
      const auto value = read_values(Words(*line), 0, matrix.field);
      if (!value)
        throw in.error("'" + std::string(*line) + "' is no value", "write one value a line, as the header promises");
      if (*value == 0) continue;
      matrix.row.push_back(row);
      matrix.column.push_back(column);
      matrix.value.push_back(*value);
    }
}

void read_entries(TextLines& in, std::int64_t entries, CoordinateMatrix& matrix) {
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    const auto line = in.next_content();
    if (!line)
      throw in.error(fmt::format("the file ends after {} of {} entries", entry, entries), "fetch the whole file again");
    const Words words(*line);
    const auto row = parse_number<std::int64_t>(words.word[0]);
    const auto column = parse_number<std::int64_t>(words.word[1]);
    const auto value = row && column ? read_values(words, 2, matrix.field) : std::nullopt;
    if (!value)
      throw in.error("'" + std::string(*line) + "' is no entry",
                     "write 'row column' and the values that the header promises");
    if (*row < 1 || *row > matrix.rows || *column < 1 || *column > matrix.columns)
      throw in.error(
          fmt::format("entry ({}, {}) lies outside the {} x {} matrix", *row, *column, matrix.rows, matrix.columns),
          "indices count from 1");
    if (matrix.symmetry != CoordinateMatrix::Symmetry::general && *column > *row)
      throw in.error(fmt::format("entry ({}, {}) is in the upper triangle of a symmetric file", *row, *column),
                     "keep the lower triangle only, or declare the matrix general");
    matrix.row.push_back(*row - 1);
    matrix.column.push_back(*column - 1);
    if (values_per_entry(matrix.field) > 0) matrix.value.push_back(*value);
  }
}

}  // namespace

std::optional<double> parse_decimal(std::string_view text) {
  if (const auto value = parse_number<double>(text)) return std::isfinite(*value) ? value : std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc::result_out_of_range || end != text.data() + text.size()) return std::nullopt;
  return std::strtod(std::string(text).c_str(), nullptr);
}

CoordinateMatrix parse_matrix_market(std::string_view text, const std::string& origin) {
  TextLines in(text, origin, "%");
  CoordinateMatrix matrix;
  const bool is_dense = read_header(in, matrix);
  const std::int64_t entries = read_size(in, is_dense, matrix);

  // An entry needs two characters at least ("1\n"), so a forged count cannot make us reserve much.
  constexpr std::size_t least_entry_characters = 2;
  const auto reserve = std::min(static_cast<std::size_t>(entries), text.size() / least_entry_characters + 1);
  matrix.row.reserve(reserve);
  matrix.column.reserve(reserve);
  if (values_per_entry(matrix.field) > 0) matrix.value.reserve(reserve);
  (is_dense ? read_columns : read_entries)(in, entries, matrix);
  if (in.next_content())
    throw in.error(fmt::format("there are more than the {} entries announced", entries), "correct the size line");
  return matrix;
}

}  // namespace commpass
