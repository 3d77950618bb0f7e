// A self-contained HTML file: pictures, sortable tables, texts, and their scripts and styles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pictures/picture.hpp"

namespace commpass {

struct PageCell {
  std::string text;
  std::optional<double> number{};                          ///< sorts its column; nothing: the text does
  PageCell(std::string words) : text(std::move(words)) {}  // NOLINT: a cell is its text
  PageCell(const char* words) : text(words) {}             // NOLINT
  PageCell(std::string words, double value) : text(std::move(words)), number(value) {}
};

struct PageTable {
  std::string caption;
  std::vector<std::string> columns;
  std::vector<std::vector<PageCell>> rows;            ///< each as long as columns
  std::size_t marked = static_cast<std::size_t>(-1);  ///< the row to highlight; none if it is beyond the rows
};

/// Escapes all texts.
class Page {
 public:
  explicit Page(std::string title) : title_(std::move(title)) {}

  void heading(const std::string& text);
  void paragraph(const std::string& text);
  /// Lines in a monospaced font, unchanged.
  void preformatted(const std::string& text, const std::string& name);
  /// Lines that wrap, with their indentation.
  void lines(const std::string& text);
  void table(const PageTable& table);
  /// A picture that zooms, with its numbers as JSON, and as CSV if that is short.
  void picture(const Picture& picture);

  std::string finish() const;

 private:
  std::string title_, body_, contents_;
  int sections_ = 0;
};

}  // namespace commpass
