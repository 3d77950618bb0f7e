// A picture and its numbers.
#pragma once

#include <string>

namespace commpass {

/// A file (svg_document), or a part of a page (svg_element).
struct Picture {
  std::string id;           ///< a word, unique in a page
  std::string title;        ///< a line
  std::string description;  ///< the alternative text: sentences
  double width = 0, height = 0;
  std::string body;  ///< SVG elements
  std::string json;  ///< its numbers
  std::string csv;   ///< its numbers as a table
};

/// A file with the style, and the numbers as metadata.
std::string svg_document(const Picture& picture);
/// The element for a page, which has picture_style() once.
std::string svg_element(const Picture& picture);
/// CSS of all pictures: light or dark as the reader's system, light in print.
std::string picture_style();

}  // namespace commpass
