// One HTML file that needs nothing else: pictures, tables that sort, texts, and the scripts and styles for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pictures/picture.hpp"

namespace commpass {

struct PageCell {
  std::string text;
  std::optional<double> number{};                          ///< by which its column is sorted; nothing: by the text
  PageCell(std::string words) : text(std::move(words)) {}  // NOLINT: a cell is its text
  PageCell(const char* words) : text(words) {}             // NOLINT
  PageCell(std::string words, double value) : text(std::move(words)), number(value) {}
};

struct PageTable {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<PageCell>> rows;            ///< each as long as columns
  std::size_t marked = static_cast<std::size_t>(-1);  ///< a row that stands out; none where it is beyond the rows
};

/// Everything given to it is text, and escaped.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  void heading(const std::string& text);
  void paragraph(const std::string& text);
  /// Lines kept as they are, in letters of one width: a table.
  void preformatted(const std::string& text, const std::string& name);
  /// Lines kept apart; long ones go on in the next, as far to the right as they began.
  void lines(const std::string& text);
  void table(const PageTable& table);
  /// With its numbers as JSON, and as CSV if that is short; more room by a button and with the wheel and Ctrl.
  void picture(const Picture& picture);

  std::string finish() const;

 private:
  std::string title_, body_, contents_;
  int sections_ = 0;
};

}  // namespace commpass
