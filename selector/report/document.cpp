#include "selector/report/document.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "model/base/format.hpp"
#include "model/base/text.hpp"

namespace commpass {

namespace {

bool has(Forms all, Forms form) { return (static_cast<unsigned>(all) & static_cast<unsigned>(form)) != 0; }

bool is_for_programs(const Column& column, Forms form) { return has(column.forms, form) && !column.key.empty(); }

const Cell& cell_of(const Row& row, std::size_t column) {
  static const Cell absent;
  return column < row.cells.size() ? row.cells[column] : absent;
}

std::string csv_field(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return {};
  return value.is_number() && !value.is_number_integer() ? csv_number(value.get<double>()) : value.dump();
}

void add_rows(Json& list, const Table& table) {
  for (const auto& row : table.rows) {
    auto entry = Json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (const auto& cell = cell_of(row, i); !cell.is_absent && is_for_programs(table.columns[i], Forms::json))
        entry[table.columns[i].key] = cell.value;
    list.push_back(std::move(entry));
  }
}

std::string csv_of(const Table& table, bool has_header) {
  std::string text;
  const auto add = [&](auto field_of) {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (is_for_programs(table.columns[i], Forms::csv)) fields.push_back(field_of(i));
    if (!fields.empty()) text += csv_line(fields);
  };
  if (has_header) add([&](std::size_t i) { return table.columns[i].key; });
  for (const auto& row : table.rows) add([&](std::size_t i) { return csv_field(cell_of(row, i).value); });
  return text;
}

}  // namespace

std::vector<Column> columns_of(std::string_view keys) {
  std::vector<Column> columns;
  for (auto& key : split(keys, ' ')) columns.push_back({std::move(key)});
  return columns;
}

Cell seconds_cell(const std::optional<Seconds>& seconds) {
  return seconds ? Cell(*seconds, format_seconds(*seconds)) : Cell();
}

Cell bytes_cell(Bytes bytes) { return {bytes, format_bytes(static_cast<double>(bytes))}; }
Cell bytes_cell(double bytes) { return {bytes, format_bytes(bytes)}; }

std::string print_percent(double share, int decimals) { return format_fixed(100 * share, decimals) + " %"; }

Cell percent_cell(double share) { return {share, print_percent(share)}; }

std::vector<std::size_t> columns_in(const Table& table, Forms form) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (const auto& column = table.columns[i];
        has(column.forms, form) && (!column.heading.empty() || (column.width != 0 && form == Forms::text)))
      columns.push_back(i);
  return columns;
}

std::string text_of(const Row& row, std::size_t column, const Table& table) {
  const auto& cell = cell_of(row, column);
  if (cell.is_absent) return table.columns[column].if_absent;
  return cell.text.empty() && cell.value.is_number() ? csv_field(cell.value) : cell.text;
}

namespace {

/// The row of a choice, which has an asterisk, in bold, that of a baseline dimmed.
std::string in_colors(const std::string& line) {
  constexpr const char *bold = "\x1b[1m", *dim = "\x1b[2m", *reset = "\x1b[0m";
  const auto* const color = line.starts_with('*') || line.starts_with(" *") ? bold
                            : line.starts_with('=')                         ? dim
                                                                            : nullptr;
  return color ? color + line.substr(0, line.size() - 1) + reset + "\n" : line;
}

}  // namespace

std::string text_of(const Table& table, const TextStyle& style) {
  auto columns = columns_in(table, Forms::text);
  std::vector<std::size_t> widths;
  bool has_header = false;
  for (const auto i : columns) {
    const auto& column = table.columns[i];
    auto width = std::max(column.heading.size(), static_cast<std::size_t>(std::abs(column.width)));
    for (const auto& row : table.rows)
      if (std::abs(column.width) <= 1 && row.instead.empty()) width = std::max(width, text_of(row, i, table).size());
    widths.push_back(width);
    has_header = has_header || !column.heading.empty();
  }
  // Further ones are the less important.
  std::string left_out;
  for (std::size_t c = 0, used = 0; style.columns > 0 && c < columns.size(); ++c) {
    used += table.columns[columns[c]].gap + widths[c];
    if (used <= style.columns || c < 2) continue;
    for (auto further = c; further < columns.size(); ++further)
      if (const auto& heading = table.columns[columns[further]].heading; !heading.empty())
        left_out += (left_out.empty() ? "" : ", ") + heading;
    columns.resize(c);
  }
  const auto line = [&](auto cell) {
    std::string text;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto& column = table.columns[columns[c]];
      const std::string words = column.shortens ? fitted(cell(columns[c]), widths[c]) : cell(columns[c]);
      text.append(column.gap, ' ');
      if (column.width > 0) append(text, "{:>{}}", words, widths[c]);
      else append(text, "{:<{}}", words, widths[c]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text;
  if (columns.empty()) return text;
  if (has_header) text += line([&](std::size_t i) { return table.columns[i].heading; });
  for (const auto& row : table.rows) {
    const auto own = row.instead.empty() ? line([&](std::size_t i) { return text_of(row, i, table); }) : row.instead;
    text += (style.has_colors ? in_colors(own) : own) + row.below;
  }
  if (!left_out.empty())
    text += wrap_lines(fmt::format("  (a wider terminal, a file and --csv also have: {})\n", left_out), style.columns);
  return text;
}

namespace {

/// The text as a cell of Markdown: neither the end of the cell nor a tag.
std::string escape_markdown(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += "\\|";
    else if (c == '<') result += "&lt;";
    else result += c == '\n' ? ' ' : c;
  }
  return result;
}

/// A sentence; several lines as they are.
std::string markdown_of(const Document::Lines& lines) {
  const auto begin = lines.text.find_first_not_of('\n');
  if (begin == std::string::npos) return {};
  const auto text = lines.text.substr(begin);
  if (lines.is_wrapped && text.find('\n') == text.size() - 1) return text + "\n";
  return fmt::format("```\n{}```\n\n", text);
}

std::string markdown_of(const Document::Summary& summary) {
  std::string text;
  for (const auto& [name, sentence] : summary.lines) append(text, "- **{}**: {}\n", name, sentence);
  return text + "\n";
}

}  // namespace

std::string markdown_of(const Table& table) {
  const auto columns = columns_in(table, Forms::page);
  std::string text;
  const auto add = [&](auto cell) {
    text += "|";
    for (const auto i : columns) {
      const std::string words = cell(i);
      text += words.empty() ? " |" : " " + words + " |";
    }
    text += "\n";
  };
  add([&](std::size_t i) { return table.columns[i].heading; });
  text += "|";
  for (std::size_t i = 0; i < columns.size(); ++i) text += "---|";
  text += "\n";
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    add([&](std::size_t i) {
      const auto words = escape_markdown(text_of(table.rows[r], i, table));
      return r == table.marked && i == columns.front() && !words.empty() ? "**" + words + "**" : words;
    });
  return text;
}

namespace {

std::string latex_of(const Table& table) {
  const auto columns = columns_in(table, Forms::text);
  std::string text = "\\begin{tabular}{";
  for (const auto i : columns) text += table.columns[i].width > 0 ? "r" : "l";
  text += "}\n";
  const auto add = [&](auto cell) {
    std::vector<std::string> cells;
    for (const auto i : columns) cells.push_back(escape_latex(cell(i)));
    text += join(cells, " & ") + " \\\\\n";
  };
  add([&](std::size_t i) { return table.columns[i].heading; });
  text += "\\hline\n";
  for (const auto& row : table.rows) {
    if (row.instead.empty()) add([&](std::size_t i) { return text_of(row, i, table); });
    else
      append(text, "\\multicolumn{{{}}}{{l}}{{{}}} \\\\\n", columns.size(),
             escape_latex(join(split(row.instead, '\n'), " ")));
  }
  return text + "\\end{tabular}\n";
}

}  // namespace

std::string escape_latex(std::string_view text) {
  static const std::vector<std::pair<std::string, std::string>> signs{
      {"×", "$\\times$"}, {"−", "$-$"},       {"–", "--"},     {"·", "$\\cdot$"}, {"α", "$\\alpha$"}, {"β", "$\\beta$"},
      {"√", "$\\surd$"},  {"…", "\\ldots{}"}, {"±", "$\\pm$"}, {"→", "$\\to$"},   {"÷", "$\\div$"}};
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto rest = text.substr(i);
    bool is_sign = false;
    for (const auto& [sign, latex] : signs)
      if (rest.starts_with(sign)) {
        result += latex;
        i += sign.size();
        is_sign = true;
        break;
      }
    if (is_sign) continue;
    const char c = text[i++];
    if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) result += std::string("\\") + c;
    else if (c == '~') result += "\\textasciitilde{}";
    else if (c == '^') result += "\\textasciicircum{}";
    else if (c == '\\') result += "\\textbackslash{}";
    else if (c == '<' || c == '>') result += std::string("$") + c + "$";
    else result += c;
  }
  return result;
}

std::string Document::latex() const {
  std::string text;
  const auto comment = [&](const std::string& lines) {
    for (const auto& line : split(lines, '\n'))
      if (!line.empty()) text += "% " + line + "\n";
  };
  for (const auto& block : blocks_)
    if (const auto* lines = std::get_if<Lines>(&block)) comment(lines->text);
    else if (const auto* table = std::get_if<Table>(&block); table && has(table->forms, Forms::text))
      text += latex_of(*table);
  return text;
}

Document::Document(const ReportContext& context) {
  auto values = Json::object();
  std::string lines;
  for (const auto& [key, value] : context) {
    values[key] = value;
    append(lines, "{}: {}\n", key, value);
  }
  fact("schema_version", 1);
  fact("context", std::move(values));
  paragraph(lines);
}

void Document::facts(const Json& object) {
  for (const auto& [key, value] : object.items()) fact(key, value);
}

void Document::note(const std::string& note) {
  if (note.empty()) return;
  fact("context", {{"note", note}});
  paragraph("Note: " + note + ".\n");
}

Json Document::json() const {
  Json json;
  for (const auto& block : blocks_) {
    if (const auto* fact = std::get_if<Fact>(&block)) {
      auto& value = json[fact->key];
      if (value.is_object()) value.update(fact->value);
      else value = fact->value;
    } else if (const auto* table = std::get_if<Table>(&block);
               table && !table->key.empty() && has(table->forms, Forms::json)) {
      auto& list = json[table->key];
      if (list.is_null()) list = Json::array();
      add_rows(list, *table);
    }
  }
  return json;
}

std::string Document::csv() const {
  std::string text;
  for (const auto& block : blocks_)
    if (const auto* table = std::get_if<Table>(&block); table && has(table->forms, Forms::csv))
      text += csv_of(*table, text.empty());
  return text;
}

std::string Document::markdown() const {
  std::string text;
  for (const auto& block : blocks_) {
    if (const auto* heading = std::get_if<Heading>(&block)) append(text, "## {}\n\n", heading->text);
    else if (const auto* sentences = std::get_if<Sentences>(&block)) text += sentences->text + "\n\n";
    else if (const auto* lines = std::get_if<Lines>(&block)) text += markdown_of(*lines);
    else if (const auto* summary = std::get_if<Summary>(&block)) text += markdown_of(*summary);
    else if (const auto* picture = std::get_if<Picture>(&block))
      append(text, "*{}.* {}\n\n", picture->title, picture->description);
    else if (const auto* table = std::get_if<Table>(&block); table && has(table->forms, Forms::page))
      text += (table->caption.empty() ? "" : table->caption + "\n\n") + markdown_of(*table) + "\n";
  }
  return text;
}

std::string Document::write(Form form, const TextStyle& style) const {
  switch (form) {
    case Form::json: return json_text(json());
    case Form::csv: return csv();
    case Form::markdown: return markdown();
    case Form::latex: return latex();
    case Form::text: break;
  }
  std::string text;
  for (const auto& block : blocks_) {
    if (const auto* lines = std::get_if<Lines>(&block))
      text += lines->is_wrapped ? wrap_lines(lines->text, style.columns) : lines->text;
    else if (const auto* table = std::get_if<Table>(&block); table && has(table->forms, Forms::text))
      text += text_of(*table, style);
  }
  return text;
}

std::string inputs_of(const ReportContext& context) {
  std::vector<std::string> inputs;
  for (const auto& [key, value] : context)
    if (key == "profile" || key == "layout" || key == "pattern") inputs.push_back(value);
  return join(inputs, "; ");
}

std::string json_text(const Json& json, int indent) { return json.dump(indent) + "\n"; }

}  // namespace commpass
