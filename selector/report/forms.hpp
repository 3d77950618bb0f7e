// The parts that the forms of a report share: JSON, comma-separated values (RFC 4180), and columns of tables.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/json_fwd.hpp"

namespace commpass {

/// The inputs of a report as keys and values: profile, layout, pattern, model, …
using ReportContext = std::vector<std::pair<std::string, std::string>>;

/// "layout: 2x16", a line for each key.
std::string context_lines(const ReportContext& context);

/// The profile, the layout and the pattern in one line.
std::string inputs_of(const ReportContext& context);

inline constexpr int json_indent = 2;     ///< of reports; -1: all on one line
inline constexpr int picture_indent = 1;  ///< of the numbers of pictures, which take many lines

/// The text of a report or a picture, with a newline at its end.
std::string json_text(const Json& json, int indent = json_indent);
/// The first two keys of a report: the version of its schema, and the context.
Json json_head(const ReportContext& context);

/// One line; a field with a comma, a quote or a line break is quoted.
std::string csv_line(const std::vector<std::string>& fields);
/// The shortest text that round-trips; nothing: an empty text.
std::string csv_number(const std::optional<double>& number);

/// The text; one that is longer than the column has '~' in place of its middle.
std::string fitted(const std::string& text, std::size_t width);
/// The width of a column: that of its heading, or of its widest cell.
/// @param cell  the text of a row
template <class Rows, class Cell>
std::size_t column_width(std::string_view heading, const Rows& rows, Cell cell) {
  auto width = heading.size();
  for (const auto& row : rows) width = std::max(width, std::invoke(cell, row).size());
  return width;
}

}  // namespace commpass
