// Formatting by the compiled part of fmt: its format_to and join compile their engine in every source.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace commpass {

/// Appends the result of fmt::format.
template <class... Values>
void append(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  text += fmt::vformat(format, fmt::make_format_args(values...));
}

/// All values of a range with a separator between two: "a, b, c".
template <class Range>
std::string join(const Range& range, std::string_view separator) {
  std::string text;
  bool is_first = true;
  for (const auto& value : range) {
    if (!std::exchange(is_first, false)) text += separator;
    append(text, "{}", value);
  }
  return text;
}

}  // namespace commpass
