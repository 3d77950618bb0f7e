// A report as one document of facts, tables and sentences. A command makes it once; each form has a writer.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/base/json.hpp"
#include "model/base/types.hpp"

namespace commpass {

/// The inputs of a report as keys and values: profile, layout, pattern, model, …
using ReportContext = std::vector<std::pair<std::string, std::string>>;

/// One value of a row.
struct Cell {
  Json value{};            ///< for programs, in the unit of its key; null: unknown
  std::string text{};      ///< for people; of a number without one its shortest text
  bool is_absent = false;  ///< JSON has no key

  Cell() : is_absent(true) {}
  Cell(std::string words) : value(words), text(std::move(words)) {}  // NOLINT: a cell is its text
  Cell(const char* words) : Cell(std::string(words)) {}              // NOLINT
  Cell(std::integral auto number) : value(number) {}                 // NOLINT: or its number
  Cell(double number) : value(number) {}                             // NOLINT
  Cell(const std::optional<double>& number) : is_absent(!number) {   // NOLINT
    if (number) value = *number;
  }
  Cell(Json json, std::string words = {}) : value(std::move(json)), text(std::move(words)) {}  // NOLINT: for programs
};
Cell seconds_cell(const std::optional<Seconds>& seconds);
Cell bytes_cell(Bytes bytes);
Cell bytes_cell(double bytes);
/// "7.5 %"; in JSON 0.075.
Cell percent_cell(double share);
std::string print_percent(double share, int decimals = 1);

/// Text has no headings, sentences and pictures: those are of documents that become pages or Markdown. LaTeX has the
/// tables of text, and its lines as comments.
enum class Form { text, json, csv, markdown, latex };

/// How text looks on a terminal.
struct TextStyle {
  std::size_t columns = 0;  ///< of a line: tables leave out columns that do not fit; 0: as many as there are
  bool has_colors = false;  ///< the choice in bold, baselines dimmed
};

/// Some of the forms. People read text and pages, programs JSON and CSV.
enum class Forms : unsigned {
  text = 1,
  json = 2,
  csv = 4,
  page = 8,
  programs = 6,
  but_csv = 11,
  but_json = 13,
  people = 9,
  page_and_json = 10,
  all = 15
};

/// A column without a key is for people only, one without heading and width for programs only.
struct Column {
  std::string key, heading{};
  /// Above 0: right-aligned. From -1 to 1: that of the widest cell; else fixed, so a wider cell shifts its row.
  int width = 0;
  std::string if_absent{};  ///< for people
  std::size_t gap = 2;      ///< blanks before it
  Forms forms = Forms::all;
  bool shortens = false;  ///< to its width, in text (fitted)
};

/// Columns for programs. @param keys  with blanks between
std::vector<Column> columns_of(std::string_view keys);
/// Columns of one form.
inline Column json_column(std::string key) { return {.key = std::move(key), .forms = Forms::json}; }
inline Column csv_column(std::string key) { return {.key = std::move(key), .forms = Forms::csv}; }
/// A mark of some characters before the next column.
inline Column mark_column(int width = 1) { return {.key = {}, .width = width, .gap = 0}; }

struct Row {
  std::vector<Cell> cells;         ///< by column; further ones are absent
  std::string instead{}, below{};  ///< for people: lines in its place, and further lines

  Row() = default;
  Row(std::initializer_list<Cell> list) : cells(list) {}
};

struct Table {
  std::string key;  ///< of its list in JSON; empty: none
  std::vector<Column> columns{};
  std::vector<Row> rows{};
  Forms forms = Forms::all;
  std::string caption{};                              ///< of a page
  std::size_t marked = static_cast<std::size_t>(-1);  ///< the row that a page highlights; none if it is beyond the rows

  Row& add(Row row) { return rows.emplace_back(std::move(row)); }
  /// Adds a column to the rows, of which each is one of the items. @param cell_of  the cell of an item
  template <class Items, class CellOf>
  void column(Column added, const Items& items, CellOf cell_of) {
    columns.push_back(std::move(added));
    if (rows.empty()) rows.resize(std::size(items));
    auto row = rows.begin();
    for (const auto& item : items) (row++)->cells.emplace_back(cell_of(item));
  }
};

/// A picture of the room pictures.
struct Picture {
  std::string id;           ///< a word, unique in a page
  std::string title;        ///< a line
  std::string description;  ///< the alternative text: sentences
  double width = 0, height = 0;
  std::string body;  ///< SVG elements
  std::string json;  ///< its numbers
  std::string csv;   ///< its numbers as a table
};

/// A table of JSON or of CSV alone. @param keys  with blanks between
inline Table json_table(const std::string& key, std::string_view keys) {
  return {key, columns_of(keys), {}, Forms::json};
}
inline Table csv_table(std::string_view keys) { return {"", columns_of(keys), {}, Forms::csv}; }

class Document {
 public:
  struct Fact {
    std::string key;
    Json value;
  };
  struct Heading {
    std::string text;
  };
  struct Sentences {
    std::string text;
  };
  struct Lines {
    std::string text;
    std::string name{};       ///< of lines that a page leaves as they are; else empty
    bool is_wrapped = false;  ///< in text
  };
  /// The findings, for a box on top of a page and for Markdown: names and sentences, with code between backticks.
  struct Summary {
    std::vector<std::pair<std::string, std::string>> lines;
  };
  using Block = std::variant<Fact, Heading, Sentences, Lines, Summary, Table, Picture>;

  Document() = default;
  /// With the version of the schema, and the context, which text has in a line for each key.
  explicit Document(const ReportContext& context);

  /// A key of JSON. An object adds its members to those that the key has.
  void fact(const std::string& key, Json value) { blocks_.emplace_back(Fact{key, std::move(value)}); }
  /// Several, as the members of an object.
  void facts(const Json& object);
  void heading(std::string text) { blocks_.emplace_back(Heading{std::move(text)}); }
  /// A paragraph without an end of a line.
  void sentences(std::string text) { blocks_.emplace_back(Sentences{std::move(text)}); }
  /// Lines, as they are.
  void text(std::string lines, std::string name = {}) {
    blocks_.emplace_back(Lines{std::move(lines), std::move(name)});
  }
  /// Lines, in text of text_columns at most.
  void paragraph(std::string lines) { blocks_.emplace_back(Lines{std::move(lines), {}, true}); }
  /// A sentence without its end, which JSON has in the context; none if it is empty.
  void note(const std::string& note);
  void add(Summary summary) { blocks_.emplace_back(std::move(summary)); }
  /// Tables of one key are one list in JSON, and tables in CSV follow each other without a second header.
  void add(Table table) { blocks_.emplace_back(std::move(table)); }
  void add(Picture picture) { blocks_.emplace_back(std::move(picture)); }

  const std::vector<Block>& blocks() const { return blocks_; }
  std::string write(Form form, const TextStyle& style = {}) const;
  Json json() const;

 private:
  std::string csv() const;
  std::string markdown() const;
  std::string latex() const;

  std::vector<Block> blocks_;
};

/// The columns of a page or of text.
std::vector<std::size_t> columns_in(const Table& table, Forms form);
/// The cell for people.
std::string text_of(const Row& row, std::size_t column, const Table& table);
std::string text_of(const Table& table, const TextStyle& style = {});
/// Text for LaTeX, with the signs that Commpass uses beyond ASCII.
std::string escape_latex(std::string_view text);
std::string markdown_of(const Table& table);

/// The profile, the layout and the pattern in one line.
std::string inputs_of(const ReportContext& context);

/// The text of JSON, with a newline at its end. @param indent  -1: all on one line
std::string json_text(const Json& json, int indent = 2);
}  // namespace commpass
