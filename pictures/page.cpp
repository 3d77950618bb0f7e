#include "pictures/pictures.hpp"

#include <fmt/core.h>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "pictures/page_assets.hpp"
#include "pictures/svg.hpp"

namespace commpass {

namespace {

/// JSON for a script element, without '<', which may end the element.
std::string in_script(const std::string& text) { return join(split(text, '<'), "\\u003c"); }

/// The name of a column in lines of several words: no-break spaces join them.
std::string in_few_lines(const std::string& name) {
  constexpr std::size_t line = 15;
  constexpr const char* no_break_space = "\u00a0";
  std::string text;
  std::size_t used = 0;
  for (const auto& word : split(name, ' ')) {
    const bool goes_on = used > 0 && used + 1 + word.size() <= line;
    if (!text.empty()) text += goes_on ? no_break_space : " ";
    used = goes_on ? used + 1 + word.size() : word.size();
    text += word;
  }
  return text;
}

/// Opens a box that scrolls, also by keys, if its content is wider than the window.
std::string box(const std::string& name) {
  return fmt::format("<div class=\"box\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">", escape_xml(name));
}

/// Writes the blocks of a document.
class Page {
 public:
  void operator()(const Document::Fact&) {}  // for programs
  void operator()(const Document::Heading& heading) {
    ++sections_;
    append(body_, "<h2 id=\"s{}\">{}</h2>\n", sections_, escape_xml(heading.text));
    append(contents_, "<li><a href=\"#s{}\">{}</a></li>", sections_, escape_xml(heading.text));
  }
  void operator()(const Document::Sentences& sentences) { append(body_, "<p>{}</p>\n", escape_xml(sentences.text)); }
  void operator()(const Document::Lines& lines);
  void operator()(const Document::Summary& summary);
  void operator()(const Table& table);
  void operator()(const Picture& picture);

  std::string finish(const std::string& title) const;

 private:
  std::string body_, contents_;
  int sections_ = 0;
};

void Page::operator()(const Document::Lines& lines) {
  if (!lines.name.empty()) {
    append(body_, "{}<pre>{}</pre></div>\n", box(lines.name), escape_xml(lines.text));
    return;
  }
  body_ += "<div class=\"box lines\">\n";
  for (const auto& line : split(lines.text, '\n')) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    append(body_, "<p style=\"margin-left:{}ch\">{}</p>\n", begin + 2, escape_xml(line.substr(begin)));
  }
  body_ += "</div>\n";
}

void Page::operator()(const Document::Summary& summary) {
  body_ += "<section class=\"summary\" aria-label=\"In short\"><dl>\n";
  for (const auto& [name, sentence] : summary.lines) {
    append(body_, "<div><dt>{}</dt><dd>", escape_xml(name));
    bool is_code = false;
    for (const auto& part : split(escape_xml(sentence), '`')) {
      // A command breaks between its words alone.
      body_ += is_code ? "<code><span>" + join(split(part, ' '), "</span> <span>") + "</span></code>" : part;
      is_code = !is_code;
    }
    body_ += "</dd></div>\n";
  }
  body_ += "</dl></section>\n";
}

void Page::operator()(const Table& table) {
  append(body_, "{}<table><caption><span>{}</span></caption><thead><tr>", box(table.caption),
         escape_xml(table.caption));
  const auto columns = columns_in(table, Forms::page);
  for (const auto column : columns)
    append(body_, "<th scope=\"col\"><button type=\"button\">{}</button></th>",
           escape_xml(in_few_lines(table.columns[column].heading)));
  append(body_, "</tr></thead><tbody>\n");
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    append(body_, "<tr{}>", r == table.marked ? " class=\"marked\"" : "");
    const auto& row = table.rows[r];
    for (const auto column : columns) {
      // The first cell of a row names it.
      const auto* const element = column == columns.front() ? "th scope=\"row\"" : "td";
      if (column < row.cells.size() && row.cells[column].value.is_number())
        append(body_, "<{} class=\"number\" data-value=\"{}\">", element, row.cells[column].value.get<double>());
      else append(body_, "<{}>", element);
      append(body_, "{}</{:.2}>", escape_xml(text_of(row, column, table)), element);
    }
    append(body_, "</tr>\n");
  }
  append(body_, "</tbody></table></div>\n");
}

void Page::operator()(const Picture& picture) {
  constexpr std::size_t csv_bytes_max = 128 << 10;
  append(body_, "<figure>{}\n{}</div>\n", box(picture.title + ": arrow keys tell its marks"), svg_element(picture));
  append(body_,
         "<div class=\"tools\"><button type=\"button\" data-zoom=\"1.4\" aria-label=\"larger\">+</button>"
         "<button type=\"button\" data-zoom=\"0.714\" aria-label=\"smaller\">−</button>"
         "<button type=\"button\" data-zoom=\"0\">whole</button>"
         "<button type=\"button\" data-save=\"{0}\" data-as=\"json\">numbers, JSON</button>",
         picture.id);
  if (picture.csv.size() <= csv_bytes_max)
    append(body_, "<button type=\"button\" data-save=\"{}\" data-as=\"csv\">numbers, CSV</button>", picture.id);
  append(body_, "</div></figure>\n<script type=\"application/json\" id=\"{}-json\">{}</script>\n", picture.id,
         in_script(picture.json));
  if (picture.csv.size() <= csv_bytes_max)
    append(body_, "<script type=\"text/csv\" id=\"{}-csv\">{}</script>\n", picture.id, escape_xml(picture.csv));
}

std::string Page::finish(const std::string& title) const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n<nav><ul>{3}</ul></nav>\n"
      "{4}</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n<script>\n{5}</script>\n</body>\n</html>\n",
      escape_xml(title), page_style, picture_style() + shade_style(), contents_, body_, page_script);
}

}  // namespace

std::string html_page(const std::string& title, const Document& document) {
  Page page;
  for (const auto& block : document.blocks()) std::visit(page, block);
  return page.finish(title);
}

}  // namespace commpass
