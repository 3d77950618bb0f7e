// A document as a self-contained HTML file: pictures, sortable tables, texts, and their scripts and styles.
#pragma once

#include <string>

#include "selector/report/document.hpp"

namespace commpass {

/// All texts are escaped. A picture zooms, and has its numbers as JSON, and as CSV if that is short. Of a table the
/// page has the columns for people: a number sorts its column, else the text does.
std::string html_page(const std::string& title, const Document& document);

}  // namespace commpass
