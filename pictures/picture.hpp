// The forms of a picture: a file, or a part of a page.
#pragma once

#include <string>

#include "selector/report/document.hpp"

namespace commpass {

/// A file with the style, and the numbers as metadata.
std::string svg_document(const Picture& picture);
/// The element for a page, which has picture_style() once.
std::string svg_element(const Picture& picture);
/// CSS of all pictures: light or dark as the reader's system, light in print.
std::string picture_style();

}  // namespace commpass
