// Matrices in all forms in which they are read.
#include "model/pattern/matrix_file.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>

#include "model/pattern/pattern.hpp"
#include "model/support.hpp"

namespace commpass {
namespace {

using test::error_of;
using test::expect_sentence;

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, double>;

struct Drawn {
  std::int64_t rows = 0, columns = 0;
  Entries entries;
  double at(std::int64_t row, std::int64_t column) const {
    const auto found = entries.find({row, column});
    return found == entries.end() ? 0 : found->second;
  }
};

Drawn draw(std::mt19937& random, bool is_square) {
  const auto below = [&](int most) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(most)); };
  Drawn drawn{4 + below(6), 4 + below(6), {}};
  if (is_square) drawn.columns = drawn.rows;
  for (auto count = below(30); count-- > 0;) {
    const auto row = below(static_cast<int>(drawn.rows)), column = below(static_cast<int>(drawn.columns));
    drawn.entries[{row, column}] = static_cast<double>(1 + below(1000));
  }
  return drawn;
}

void expect_equal(const CoordinateMatrix& matrix, const Drawn& drawn, const std::string& form) {
  EXPECT_EQ(matrix.rows, drawn.rows) << form;
  EXPECT_EQ(matrix.columns, drawn.columns) << form;
  Entries found;
  for (std::size_t i = 0; i < matrix.row.size(); ++i) found[{matrix.row[i], matrix.column[i]}] += matrix.value[i];
  EXPECT_EQ(found, drawn.entries) << form;
}

std::string number(double value) { return std::to_string(static_cast<long>(value)); }

std::string as_table(const Drawn& drawn, const std::string& separator, const std::string& end) {
  std::string text;
  for (std::int64_t row = 0; row < drawn.rows; ++row)
    for (std::int64_t column = 0; column < drawn.columns; ++column)
      text += number(drawn.at(row, column)) + (column + 1 == drawn.columns ? end : separator);
  return text;
}

std::string as_array(const Drawn& drawn, const std::string& end) {
  auto text = "%%MatrixMarket matrix array integer general" + end + std::to_string(drawn.rows) + " " +
              std::to_string(drawn.columns) + end;
  for (std::int64_t column = 0; column < drawn.columns; ++column)
    for (std::int64_t row = 0; row < drawn.rows; ++row) text += number(drawn.at(row, column)) + end;
  return text;
}

std::string as_coordinates(const Drawn& drawn, const std::string& end) {
  auto text = "%%MatrixMarket matrix coordinate real general" + end + std::to_string(drawn.rows) + " " +
              std::to_string(drawn.columns) + " " + std::to_string(drawn.entries.size()) + end;
  for (const auto& [at, value] : drawn.entries)
    text += std::to_string(at.first + 1) + " " + std::to_string(at.second + 1) + " " + number(value) + end;
  return text;
}

struct BinaryForm {
  int index_bytes = 4;
  bool is_complex = false, is_dense = false;
};

/// As MatView writes it (PETSc 3.18, src/mat/impls/aij/seq/aij.c and dense.c).
std::string as_petsc(const Drawn& drawn, const BinaryForm& form) {
  std::string bytes;
  const auto put = [&](std::uint64_t value, int count) {
    for (int i = count; i-- > 0;) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  };
  const auto index = [&](std::int64_t value) { put(static_cast<std::uint64_t>(value), form.index_bytes); };
  const auto scalar = [&](double value) {
    put(std::bit_cast<std::uint64_t>(value), 8);
    if (form.is_complex) put(std::bit_cast<std::uint64_t>(-value), 8);
  };
  index(1211216);
  index(drawn.rows);
  index(drawn.columns);
  index(form.is_dense ? -1 : std::ssize(drawn.entries));
  if (form.is_dense) {
    for (std::int64_t row = 0; row < drawn.rows; ++row)
      for (std::int64_t column = 0; column < drawn.columns; ++column) scalar(drawn.at(row, column));
    return bytes;
  }
  for (std::int64_t row = 0; row < drawn.rows; ++row)
    index(std::ranges::count_if(drawn.entries, [&](const auto& entry) { return entry.first.first == row; }));
  for (const auto& entry : drawn.entries) index(entry.first.second);
  for (const auto& entry : drawn.entries) scalar(entry.second);
  return bytes;
}

std::string as_list(const Drawn& drawn, const std::string& separator) {
  std::string text = "from" + separator + "to" + separator + "bytes\n";
  for (const auto& [at, value] : drawn.entries)
    text += std::to_string(at.first) + separator + std::to_string(at.second) + separator + number(value) + "\n";
  return text;
}

TEST(MatrixFile, IsReadInEachForm) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    auto drawn = draw(random, round % 2 == 0);
    for (const auto* end : {"\n", "\r\n", "\r"}) {
      expect_equal(parse_matrix(as_array(drawn, end), "m"), drawn, "array");
      expect_equal(parse_matrix(as_coordinates(drawn, end), "m"), drawn, "coordinate");
      for (const auto* separator : {" ", "  ", "\t", ",", ", ", ";"})
        expect_equal(parse_matrix(as_table(drawn, separator, end), "m"), drawn, "table");
    }
    for (const auto& form :
         {BinaryForm{4}, BinaryForm{8}, BinaryForm{4, true}, BinaryForm{4, false, true}, BinaryForm{8, true, true}})
      expect_equal(parse_matrix(as_petsc(drawn, form), "m"), drawn, "PETSc");
    if (drawn.rows != drawn.columns) continue;
    drawn.entries[{drawn.rows - 1, 0}] = 5;  // else a list cannot tell the size
    for (const auto* separator : {" ", "\t", ","})
      expect_equal(parse_matrix(as_list(drawn, separator), "m"), drawn, "list");
  }
}

TEST(MatrixFile, OfAnArrayMayHaveHalfOfTheEntries) {
  const auto symmetric = parse_matrix("%%MatrixMarket matrix array real symmetric\n2 2\n1\n0\n3\n", "m");
  EXPECT_EQ(symmetric.row, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(symmetric.value, (std::vector<double>{1, 3}));
  const auto skew = parse_matrix("%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", "m");
  EXPECT_EQ(skew.row, (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(skew.column, (std::vector<std::int64_t>{0, 0, 1}));
}

TEST(MatrixFile, MayHaveValuesBeyondADouble) {
  const auto matrix =
      parse_matrix("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1E310\n2 1 1e-400\n", "m");
  EXPECT_EQ(matrix.value[0], std::numeric_limits<double>::infinity());
  EXPECT_EQ(matrix.value[1], 0);
}

TEST(MatrixFile, OfFewColumnsIsAListUnlessItIsSquare) {
  EXPECT_EQ(parse_matrix("0 1 8\n1 0 4\n", "m").rows, 2) << "two edges";
  EXPECT_EQ(parse_matrix("0 1 8\n1 0 4\n2 2 2\n", "m").value.size(), 7U) << "a table of 3 x 3";
  EXPECT_EQ(parse_matrix("source target size\n0 1 8\n1 0 4\n2 2 2\n", "m").value.size(), 3U);
  const auto turned = parse_matrix("Bytes,To,From\n100,1,0\n", "m");
  EXPECT_EQ(turned.row, std::vector<std::int64_t>{0});
  EXPECT_EQ(turned.column, std::vector<std::int64_t>{1});
  EXPECT_EQ(turned.value, std::vector<double>{100});
  EXPECT_EQ(parse_matrix("from to bytes\n1 2 8\n", "m").rows, 3) << "rank 0 exchanges nothing";
  const auto commented = parse_matrix("0 1 8 # to the right\n% all\n1 0 4% back\n", "m");
  EXPECT_EQ(commented.value, (std::vector<double>{8, 4}));
  EXPECT_EQ(commented.column, (std::vector<std::int64_t>{1, 0}));
  const auto without_sizes = parse_matrix("# two ranks\n0 1\n1 0\n1 2\n", "m");
  EXPECT_EQ(without_sizes.rows, 3);
  EXPECT_EQ(without_sizes.field, CoordinateMatrix::Field::pattern);
}

TEST(MatrixFile, ThatIsNoneIsNamedAsWhatItLooksLike) {
  struct Bad {
    std::string text;
    std::vector<std::string> parts;
  };
  Drawn drawn{4, 4, {{{0, 1}, 1}, {{2, 3}, 2}}};
  const auto petsc = as_petsc(drawn, {});
  auto wrong_column = petsc;
  wrong_column[4 * 4 + 4 * 4 + 3] = 9;
  auto wrong_row = petsc;
  wrong_row[4 * 4 + 3] = 7;
  const Bad bad[] = {{"", {"m", "nothing in it", "rows 'from to bytes'"}},
                     {"# only a comment\n", {"nothing in it"}},
                     {"1 2 3 4\n1 2\n", {"m, line 2", "a table of numbers", "2 of them, the first one 4"}},
                     {"1 2 3 4\n1 2 x 4\n", {"m, line 2", "'x' is no number"}},
                     {"1 2 8\n2 1 4\n1 1 9\n1 2 7\n", {"m", "no row of this list names rank 0", "count from 0"}},
                     {"from,to,kB\n0,1,8\n", {"m, first row", "no column is called bytes"}},
                     {"a b c\n0 1 2\n1 2 0\n2 0 1\n", {"m, first row", "no column is called from"}},
                     {"a b c d\n1 2 3 4\n", {"m", "first row has words", "4 columns"}},
                     {"0 1 8\n-1 0 4\n", {"m, row 2", "-1 is no rank", "counted from 0"}},
                     {"0 1 8\n0.5 0 4\n", {"m, row 2", "0.5 is no rank"}},
                     {"3 3 2\n1 2 8\n2 1 8\n", {"m", "Matrix Market file without its header", "%%MatrixMarket"}},
                     {"%MatrixMarket matrix coordinate real general\n1 1 0\n", {"m, line 1", "no header"}},
                     {std::string("\x01\x02\x00\x03", 4), {"m", "looks like binary"}},
                     {"\x89HDF\r\n", {"m", "looks like an HDF5 file"}},
                     {"{\"ranks\": 3}", {"m", "looks like JSON", "PETSc"}},
                     {"<html>", {"m", "looks like markup"}},
                     {petsc.substr(0, 10), {"m", "PETSc binary matrix", "cut short"}},
                     {petsc.substr(0, petsc.size() - 1), {"m", "PETSc binary matrix", "whose values take 15 bytes"}},
                     {petsc + "x", {"m", "PETSc binary matrix", "whose values take 17 bytes"}},
                     {wrong_column, {"m", "entry in column 9"}},
                     {wrong_row, {"m", "whose row 0 has 7 entries of 2"}}};
  for (const auto& [text, parts] : bad) {
    SCOPED_TRACE(text.substr(0, 40));
    expect_sentence(error_of([&, t = text] { parse_matrix(t, "m"); }), parts);
  }
}

TEST(MatrixFile, SurvivesDamage) {
  std::mt19937 random(5);
  const auto drawn = draw(random, true);
  for (const auto& text : {as_table(drawn, ",", "\n"), as_list(drawn, " "), as_array(drawn, "\r"), as_petsc(drawn, {}),
                           as_petsc(drawn, {8, true, false}), as_petsc(drawn, {4, false, true})})
    test::expect_robust(text, [](const std::string& damaged) { parse_matrix(damaged, "m"); });
}

class PatternInOtherForms : public testing::Test {
 protected:
  Pattern read(const std::string& text, std::optional<Bytes> value_bytes = {}) {
    return read_pattern(directory_.write("p.txt", text), most_matrix_bytes, value_bytes);
  }
  test::TemporaryDirectory directory_;
};

TEST_F(PatternInOtherForms, HasTheBytesFromRowToColumn) {
  EXPECT_EQ(read("0 8 0\n4 0 2\n0 0 0\n").edges, (std::vector<Edge>{{0, 1, 8}, {1, 0, 4}, {1, 2, 2}}));
  EXPECT_EQ(read("0 2 8\n2 0 4\n").edges, (std::vector<Edge>{{0, 2, 8}, {2, 0, 4}}));
  EXPECT_EQ(read("0 3\n3 0\n1 1", 16).edges, (std::vector<Edge>{{0, 3, 16}, {3, 0, 16}, {1, 1, 16}}));
  EXPECT_EQ(read("0 8\n4 0\n", 8).edges, (std::vector<Edge>{{0, 1, 64}, {1, 0, 32}}));
}

TEST_F(PatternInOtherForms, IsRefusedWithoutSizesOrWhereTheyOverflow) {
  expect_sentence(error_of([&] { read("0 3\n3 0\n1 1"); }), {"no sizes", "--value-bytes"});
  expect_sentence(error_of([&] { read("0 4e15\n0 0\n", Bytes{1} << 40); }), {"entry (1, 2)", "2^63"});
  expect_sentence(error_of([&] { read("0 1e310\n0 0\n"); }), {"entry (1, 2)", "inf is no number of bytes"});
  expect_sentence(error_of([&] { read("0 1 2 4\n0 0 1 2\n"); }), {"2 x 4", "--matrix"});
}

}  // namespace
}  // namespace commpass
