// The lines of a text, with their numbers for errors. Private to the readers of this directory.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/text.hpp"

namespace commpass {

/// Lines end with LF, CR LF or CR.
class TextLines {
 public:
  /// @param comments  characters that begin a line without content
  TextLines(std::string_view text, const std::string& origin, std::string_view comments)
      : rest_(without_byte_order_mark(text, origin)), origin_(origin), comments_(comments) {}

  std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    ++number_;
    return take_line(rest_);
  }

  /// The next line that is neither blank nor a comment.
  std::optional<std::string_view> next_content() {
    while (const auto line = next()) {
      const auto first = line->find_first_not_of(" \t");
      if (first != std::string_view::npos && comments_.find((*line)[first]) == std::string_view::npos) return line;
    }
    return std::nullopt;
  }

  /// @return an error at the last line
  InputError error(const std::string& what, const std::string& remedy) const {
    return {fmt::format("{}, line {}", origin_, number_), what, remedy};
  }

 private:
  std::string_view rest_;
  std::string origin_;
  std::string_view comments_;
  std::int64_t number_ = 0;
};

}  // namespace commpass
