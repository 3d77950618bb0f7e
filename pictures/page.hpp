// A self-contained HTML file: pictures, sortable tables, texts, and their scripts and styles.
#pragma once

#include <string>

#include "pictures/picture.hpp"
#include "selector/report/document.hpp"

namespace commpass {

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
  /// The columns for people. A number sorts its column; else the text does.
  void table(const Table& table);
  /// A picture that zooms, with its numbers as JSON, and as CSV if that is short.
  void picture(const Picture& picture);

  std::string finish() const;

 private:
  std::string title_, body_, contents_;
  int sections_ = 0;
};

}  // namespace commpass
