// Texts in columns of tables.
#pragma once

#include <cstddef>
#include <string>

namespace commpass {

/// The text; a longer one than the column loses letters between its beginning and its end.
inline std::string fitted(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  const auto end = (width - 1) / 2;
  return text.substr(0, width - 1 - end) + "~" + text.substr(text.size() - end);
}

}  // namespace commpass
