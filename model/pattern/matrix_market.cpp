#include "model/pattern/matrix_market.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

/// Hands out lines and knows their numbers, for errors.
class LineReader {
 public:
  LineReader(std::string_view text, const std::string& origin) : rest_(text), origin_(origin) {}

  std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    ++number_;
    const auto end = rest_.find('\n');
    auto line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
  }

  /// The next line that is neither empty nor a comment.
  std::optional<std::string_view> next_content() {
    while (auto line = next()) {
      const auto first = line->find_first_not_of(" \t");
      if (first != std::string_view::npos && (*line)[first] != '%') return line;
    }
    return std::nullopt;
  }

  InputError error(const std::string& what, const std::string& remedy) const {
    return {fmt::format("{}, line {}", origin_, number_), what, remedy};
  }

 private:
  std::string_view rest_;
  std::string origin_;
  std::int64_t number_ = 0;
};

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

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

template <class Value, std::size_t count>
std::optional<Value> look_up(const std::array<std::pair<const char*, Value>, count>& table, const std::string& key) {
  for (const auto& [name, value] : table)
    if (key == name) return value;
  return std::nullopt;
}

void read_header(LineReader& in, CoordinateMatrix& matrix) {
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
  const bool right_kind = words.count == header_words && words.word[0] == "%%MatrixMarket" &&
                          lower(words.word[1]) == "matrix" && lower(words.word[2]) == "coordinate";
  const auto field = right_kind ? look_up(fields, lower(words.word[3])) : std::nullopt;
  const auto symmetry = right_kind ? look_up(symmetries, lower(words.word[4])) : std::nullopt;
  if (!field || !symmetry)
    throw in.error("it is no header of a Matrix Market coordinate file",
                   "start the file with '%%MatrixMarket matrix coordinate real general'");
  matrix.field = *field;
  matrix.symmetry = *symmetry;
}

std::int64_t read_size(LineReader& in, CoordinateMatrix& matrix) {
  const auto line = in.next_content();
  const Words words(line.value_or(""));
  constexpr std::size_t size_words = 3;
  const auto rows = parse_number<std::int64_t>(words.word[0]);
  const auto columns = parse_number<std::int64_t>(words.word[1]);
  const auto entries = parse_number<std::int64_t>(words.word[2]);
  if (words.count != size_words || !rows || !columns || !entries || *rows < 1 || *columns < 1 || *entries < 0)
    throw in.error("it is no size line", "write 'rows columns entries', all positive");
  // Guards the arithmetic of those who use the sizes, and refuses what can only be a damaged line.
  constexpr std::int64_t largest = std::int64_t{1} << 28;
  if (*rows > largest || *columns > largest)
    throw in.error(fmt::format("{} x {} is larger than Commpass reads", *rows, *columns),
                   fmt::format("use at most {} rows and columns", largest));
  if (matrix.symmetry != CoordinateMatrix::Symmetry::general && *rows != *columns)
    throw in.error(fmt::format("a symmetric matrix cannot be {} x {}", *rows, *columns),
                   "correct the header or the sizes");
  matrix.rows = *rows;
  matrix.columns = *columns;
  return *entries;
}

std::size_t values_per_entry(CoordinateMatrix::Field field) {
  switch (field) {
    case CoordinateMatrix::Field::pattern: return 0;
    case CoordinateMatrix::Field::complex: return 2;
    default: return 1;
  }
}

}  // namespace

CoordinateMatrix parse_matrix_market(std::string_view text, const std::string& origin) {
  LineReader in(text, origin);
  CoordinateMatrix matrix;
  read_header(in, matrix);
  const std::int64_t entries = read_size(in, matrix);

  // An entry needs four characters at least ("1 1\n"), so a forged count cannot make us reserve much.
  constexpr std::size_t least_entry_characters = 4;
  const auto reserve = std::min(static_cast<std::size_t>(entries), text.size() / least_entry_characters + 1);
  matrix.row.reserve(reserve);
  matrix.column.reserve(reserve);
  const std::size_t values = values_per_entry(matrix.field);
  if (values > 0) matrix.value.reserve(reserve);

  for (std::int64_t entry = 0; entry < entries; ++entry) {
    const auto line = in.next_content();
    if (!line)
      throw in.error(fmt::format("the file ends after {} of {} entries", entry, entries), "fetch the whole file again");
    const Words words(*line);
    const auto row = parse_number<std::int64_t>(words.word[0]);
    const auto column = parse_number<std::int64_t>(words.word[1]);
    bool good = words.count == 2 + values && row && column;
    double real_part = 0;
    for (std::size_t i = 0; good && i < values; ++i) {
      const auto value = parse_number<double>(words.word[2 + i]);
      good = value && std::isfinite(*value) &&
             (matrix.field != CoordinateMatrix::Field::integer || *value == std::floor(*value));
      if (good && i == 0) real_part = *value;
    }
    if (!good)
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
    if (values > 0) matrix.value.push_back(real_part);
  }
  if (in.next_content())
    throw in.error(fmt::format("there are more than the {} entries announced", entries), "correct the size line");
  return matrix;
}

CoordinateMatrix read_matrix_market(const std::string& path, Bytes most_bytes) {
  const ReadLimit limit{most_bytes, "name a smaller one, or allow more with --max-input-bytes SIZE"};
  return within_memory(path, [&] { return parse_matrix_market(read_file(path, limit), path); });
}

}  // namespace commpass
