// The lines of a text, with their numbers for errors. Private to the readers of this directory.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/error.hpp"

namespace commpass {

/// Lines end with LF, CR LF or CR.
class TextLines {
 public:
  /// @param comments  characters that begin a line without content
  TextLines(std::string_view text, const std::string& origin, std::string_view comments)
      : rest_(text), origin_(origin), comments_(comments) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  std::optional<std::string_view> next() {
    if (rest_.empty()) return std::nullopt;
    ++number_;
    const auto end = rest_.find_first_of("\r\n");
    const auto line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + (rest_.substr(end, 2) == "\r\n" ? 2 : 1));
    return line;
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
