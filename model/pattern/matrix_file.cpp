#include "model/pattern/matrix_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/text.hpp"
#include "model/pattern/text_lines.hpp"

namespace commpass {

namespace {

constexpr const char* usable_forms =
    "use a Matrix Market file, a PETSc binary matrix, a table of P rows of P numbers, or rows 'from to bytes'";

// ---- Tables and lists ----

constexpr std::string_view separators = " \t,;";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(separators); at != std::string_view::npos;
       at = line.find_first_not_of(separators, at)) {
    const auto end = std::min(line.find_first_of(separators, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

struct Table {
  std::size_t rows = 0, columns = 0;
  std::vector<std::string>
      titles;  ///< of columns, in small letters, where the first line has words in place of numbers
  std::vector<double> values;
};

Table read_table(std::string_view text, const std::string& origin) {
  Table table;
  constexpr std::string_view comments = "#%";
  TextLines in(text, origin, comments);
  while (const auto line = in.next_content()) {
    const auto words = words_of(line->substr(0, line->find_first_of(comments)));
    if (words.empty()) continue;
    const bool is_first = table.columns == 0;
    if (is_first) table.columns = words.size();
    if (words.size() != table.columns)
      throw in.error(fmt::format("it is a table of numbers, and this row has {} of them, the first one {}",
                                 words.size(), table.columns),
                     "give all rows as many");
    if (is_first && std::ranges::none_of(words, [](auto word) { return parse_decimal(word).has_value(); })) {
      for (const auto word : words) table.titles.push_back(lower_case(word));
      continue;
    }
    for (const auto word : words) {
      const auto value = parse_decimal(word);
      if (!value) throw in.error(fmt::format("'{}' is no number", word.substr(0, 40)), usable_forms);
      table.values.push_back(*value);
    }
    ++table.rows;
  }
  if (table.rows == 0) throw InputError(origin, "there is nothing in it", usable_forms);
  return table;
}

CoordinateMatrix dense(const Table& table) {
  CoordinateMatrix matrix;
  matrix.rows = static_cast<std::int64_t>(table.rows);
  matrix.columns = static_cast<std::int64_t>(table.columns);
  matrix.field = CoordinateMatrix::Field::real;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (table.values[i] == 0) continue;
    matrix.row.push_back(static_cast<std::int64_t>(i / table.columns));
    matrix.column.push_back(static_cast<std::int64_t>(i % table.columns));
    matrix.value.push_back(table.values[i]);
  }
  return matrix;
}

/// Is the first row the size line of a Matrix Market file whose header is gone? No index of the others is 0 or larger.
bool begins_with_sizes(const Table& table) {
  if (table.columns != 3 || table.rows < 2 || !table.titles.empty()) return false;
  const auto& values = table.values;
  for (std::size_t row = 1; row < table.rows; ++row)
    for (const std::size_t i : {0, 1})
      if (values[row * table.columns + i] < 1 || values[row * table.columns + i] > values[i]) return false;
  return true;
}

/// Where a list has its sources, its destinations and, if it has three columns, its bytes.
std::array<std::size_t, 3> columns_of(const Table& table, const std::string& origin) {
  std::array<std::size_t, 3> columns{0, 1, 2};
  if (table.titles.empty()) return columns;
  const std::array<std::vector<std::string>, 3> names{
      {{"from", "source", "src", "sender", "row", "i"},
       {"to", "destination", "dest", "dst", "target", "receiver", "column", "col", "j"},
       {"bytes", "size", "weight", "value", "values", "count"}}};  // counts: see read_pattern
  for (std::size_t of = 0; of < table.columns; ++of) {
    const auto found = std::ranges::find_if(
        table.titles, [&](const auto& title) { return std::ranges::find(names[of], title) != names[of].end(); });
    if (found == table.titles.end())
      throw InputError(origin + ", first row", fmt::format("no column is called {}", names[of].front()),
                       "call them from, to and bytes, or leave the row out");
    columns[of] = static_cast<std::size_t>(found - table.titles.begin());
  }
  return columns;
}

/// @param table  of two or three columns
CoordinateMatrix list_of_edges(const Table& table, const std::string& origin) {
  CoordinateMatrix matrix;
  const bool has_values = table.columns == 3;
  matrix.field = has_values ? CoordinateMatrix::Field::real : CoordinateMatrix::Field::pattern;
  const auto index = [&](std::size_t row, double value) {
    if (!(value >= 0 && value < static_cast<double>(most_matrix_rows)) ||
        value != static_cast<double>(static_cast<std::int64_t>(value)))
      throw InputError(fmt::format("{}, row {}", origin, row + 1), fmt::format("{} is no rank", value),
                       "write 'from to bytes', ranks counted from 0");
    return static_cast<std::int64_t>(value);
  };
  const auto [from, to, bytes] = columns_of(table, origin);
  for (std::size_t row = 0; row < table.rows; ++row) {
    const auto* const values = &table.values[row * table.columns];
    matrix.row.push_back(index(row, values[from]));
    matrix.column.push_back(index(row, values[to]));
    if (has_values) matrix.value.push_back(values[bytes]);
  }
  if (table.titles.empty() && std::min(std::ranges::min(matrix.row), std::ranges::min(matrix.column)) > 0)
    throw InputError(origin, "no row of this list names rank 0, from which ranks count",
                     "count from 0, or, if rank 0 exchanges nothing, begin with a row 'from to bytes'");
  matrix.rows = matrix.columns = 1 + std::max(std::ranges::max(matrix.row), std::ranges::max(matrix.column));
  return matrix;
}

CoordinateMatrix parse_table(std::string_view text, const std::string& origin) {
  const auto table = read_table(text, origin);
  if (begins_with_sizes(table))
    throw InputError(origin, "it looks like a Matrix Market file without its header",
                     "start the file with '%%MatrixMarket matrix coordinate real general'");
  const bool may_be_list = table.columns == 2 || table.columns == 3;
  if (may_be_list && (!table.titles.empty() || table.rows != table.columns)) return list_of_edges(table, origin);
  if (!table.titles.empty())
    throw InputError(origin, fmt::format("its first row has words, and {} columns are no list of edges", table.columns),
                     usable_forms);
  return dense(table);
}

// ---- PETSc ----

/// Numbers in network byte order, one after the other.
class BigEndian {
 public:
  BigEndian(std::string_view rest, std::string origin) : rest_(rest), origin_(std::move(origin)) {}

  template <class Unsigned>
  Unsigned take() {
    Unsigned value = 0;
    if (rest_.size() < sizeof value)
      throw InputError(origin_, "it is a PETSc binary matrix that is cut short", "fetch the whole file again");
    for (std::size_t i = 0; i < sizeof value; ++i)
      value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(rest_[i]));
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::int64_t index(std::size_t bytes) {
    return bytes == 4 ? static_cast<std::int32_t>(take<std::uint32_t>())
                      : static_cast<std::int64_t>(take<std::uint64_t>());
  }
  double real() { return std::bit_cast<double>(take<std::uint64_t>()); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  std::string origin_;
};

constexpr std::int64_t petsc_matrix_class = 1211216;  // MAT_FILE_CLASSID (petscmat.h)
constexpr std::int64_t petsc_dense = -1;              // MATRIX_BINARY_FORMAT_DENSE, in place of the number of entries

/// The size of an index, by the class that the file begins with; nothing: it is no PETSc matrix.
std::optional<std::size_t> petsc_index_bytes(std::string_view contents) {
  for (const std::size_t bytes : {4, 8})
    if (contents.size() >= bytes && BigEndian(contents, "").index(bytes) == petsc_matrix_class) return bytes;
  return std::nullopt;
}

/// MatView's binary format: class, rows, columns, entries, the entries of each row, their columns, their values.
CoordinateMatrix parse_petsc(std::string_view contents, std::size_t index_bytes, const std::string& origin) {
  const auto damaged = [&](const std::string& what) {
    return InputError(origin, "it is a PETSc binary matrix " + what, "write it anew with MatView");
  };
  BigEndian in(contents, origin);
  in.index(index_bytes);
  CoordinateMatrix matrix;
  matrix.rows = in.index(index_bytes);
  matrix.columns = in.index(index_bytes);
  const auto entries = in.index(index_bytes);
  if (matrix.rows < 1 || matrix.columns < 1 || matrix.rows > most_matrix_rows || matrix.columns > most_matrix_rows ||
      (entries < 0 && entries != petsc_dense))
    throw damaged(fmt::format("of {} x {} with {} entries", matrix.rows, matrix.columns, entries));
  const bool is_dense = entries == petsc_dense;
  const auto values = static_cast<std::size_t>(is_dense ? matrix.rows * matrix.columns : entries);
  const auto index_count = is_dense ? 0 : static_cast<std::size_t>(matrix.rows) + values;
  if (in.left() / index_bytes < index_count) throw damaged("that is cut short");
  const auto value_bytes = in.left() - index_count * index_bytes;
  const bool is_complex = values > 0 && value_bytes / values >= 2 * sizeof(double);
  if (value_bytes / sizeof(double) != values * (is_complex ? 2 : 1) || value_bytes % sizeof(double) != 0)
    throw damaged(fmt::format("whose values take {} bytes, and there are {} of them", value_bytes, values));
  matrix.field = is_complex ? CoordinateMatrix::Field::complex : CoordinateMatrix::Field::real;
  std::vector<std::int64_t> of_row;
  for (std::int64_t row = 0; row < (is_dense ? 0 : matrix.rows); ++row) of_row.push_back(in.index(index_bytes));
  for (std::int64_t row = 0; row < std::ssize(of_row); ++row) {
    const auto count = of_row[static_cast<std::size_t>(row)];
    if (count < 0 || count > entries - std::ssize(matrix.row))
      throw damaged(fmt::format("whose row {} has {} entries of {}", row, count, entries));
    matrix.row.insert(matrix.row.end(), static_cast<std::size_t>(count), row);
  }
  if (!is_dense && std::ssize(matrix.row) != entries)
    throw damaged(fmt::format("whose rows have {} entries, and {} are announced", matrix.row.size(), entries));
  for (std::int64_t i = 0; i < std::ssize(matrix.row); ++i) {
    const auto column = in.index(index_bytes);
    if (column < 0 || column >= matrix.columns) throw damaged(fmt::format("with an entry in column {}", column));
    matrix.column.push_back(column);
  }
  for (std::size_t i = 0; i < values; ++i) {
    const double value = in.real();
    if (is_complex) in.real();
    if (!is_dense) {
      matrix.value.push_back(value);
    } else if (value != 0) {
      matrix.row.push_back(static_cast<std::int64_t>(i) / matrix.columns);
      matrix.column.push_back(static_cast<std::int64_t>(i) % matrix.columns);
      matrix.value.push_back(value);
    }
  }
  return matrix;
}

// ---- Neither ----

/// What contents look like that hold bytes of no text, or begin as no matrix does; null: text.
const char* look_of(std::string_view contents) {
  constexpr std::pair<std::string_view, const char*> beginnings[] = {
      {"\x89HDF", "an HDF5 file"},
      {"MATLAB 5.0", "a MATLAB file"},
      {"\x93NUMPY", "a NumPy array"},
      {"PK\x03\x04", "a zip archive"},
      {"\x1f\x8b", "a gzipped file within a gzipped file"},
      {"BZh", "a bzip2 file"},
      {"\xfd"
       "7zXZ",
       "an xz file"},
      {"\x28\xb5\x2f\xfd", "a zstd file"},
      {"\x7f"
       "ELF",
       "a program"},
      {"%PDF", "a PDF document"},
      {"<", "markup (XML or HTML)"},
      {"{", "JSON"},
      {"[", "JSON"}};
  for (const auto& [beginning, look] : beginnings)
    if (contents.starts_with(beginning)) return look;
  const auto is_binary = [](char c) { return c == '\0' || (c > '\0' && c < '\t'); };
  return std::ranges::any_of(contents.substr(0, 4096), is_binary) ? "binary" : nullptr;
}

}  // namespace

CoordinateMatrix parse_matrix(std::string_view contents, const std::string& origin) {
  if (const auto bytes = petsc_index_bytes(contents)) return parse_petsc(contents, *bytes, origin);
  if (const auto* const look = look_of(contents))
    throw InputError(origin, fmt::format("it looks like {}, and is no matrix that Commpass reads", look), usable_forms);
  const auto first_line = lower_case(contents.substr(0, std::min(contents.find_first_of("\r\n"), std::size_t{200})));
  if (first_line.find("matrixmarket") != std::string::npos) return parse_matrix_market(contents, origin);
  return parse_table(contents, origin);
}

CoordinateMatrix read_matrix(const std::string& path, Bytes most_bytes) {
  const ReadLimit limit{most_bytes, "name a smaller one, or allow more with --max-input-bytes SIZE"};
  return within_memory(path, [&] { return parse_matrix(read_file(path, limit), path); });
}

}  // namespace commpass
