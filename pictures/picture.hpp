// A picture and its numbers.
#pragma once

#include <string>

namespace commpass {

/// Drawn once, shown as a file of its own (svg_document) or in a page (svg_element).
struct Picture {
  std::string id;           ///< a word, other than that of every other picture of a page
  std::string title;        ///< a line
  std::string description;  ///< what is to be seen, in sentences: the alternative text
  double width = 0, height = 0;
  std::string body;  ///< SVG elements
  std::string json;  ///< its numbers, in full
  std::string csv;   ///< the same as a table, where they are one
};

/// A file: with its style, and the numbers as metadata.
std::string svg_document(const Picture& picture);
/// The element alone, for a page that has picture_style() once.
std::string svg_element(const Picture& picture);
/// CSS of all pictures: light, dark where the reader's system is, and light in print.
std::string picture_style();

}  // namespace commpass
