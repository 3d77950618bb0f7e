// Numbers and lists in text, read strictly: the whole text must be the number.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/types.hpp"

namespace commpass {

/// The number that `text` is, entirely; nothing otherwise (empty, signs '+', trailing characters, overflow).
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Pieces of `text` between separators; "a,,b" has an empty one, "" is one empty piece.
std::vector<std::string> split(std::string_view text, char separator);

/// The text of a file without the mark that some editors write before UTF-8.
/// @throws InputError that names the origin, if it is UTF-16
std::string_view without_byte_order_mark(std::string_view text, const std::string& origin);

/// Takes the first line from a text, without its end: LF, CR LF or CR.
std::string_view take_line(std::string_view& text);

/// Control characters of ASCII: those below a blank, and DEL.
bool has_control_characters(std::string_view text);

/// The text with "\n", "\t" or "\x1b" in place of control characters, so that it is one line and moves no cursor.
std::string escape_control_characters(std::string_view text);

/// With a to z in place of A to Z.
std::string lower_case(std::string_view text);

/// A size as users write it: "512", "16KiB", "1.5MiB", "64kB", "1e3". KiB to TiB are powers of 1024, kB to TB
/// powers of 1000, all in whatever case. Nothing where it is no whole number of bytes, or its unit may be both
/// ("16k").
std::optional<Bytes> parse_bytes(std::string_view text);

/// Why parse_bytes takes no text: what it is, as "is no size", and what to write in its place.
struct SizeProblem {
  std::string what, remedy;
};
SizeProblem size_problem(std::string_view text);

/// "512", "16KiB", "3MiB": exact and as short as it goes, for parse_bytes.
std::string print_bytes(Bytes bytes);

/// "1.57", "+12": for people, with `decimals` digits behind the point. A million and more are "1.5e+300".
std::string format_fixed(double value, int decimals, bool with_sign = false);

/// "512 B", "16 KiB", "3.4 MiB": for people, three digits.
std::string format_bytes(double bytes);

/// "3.21 us", "1.5 ms": for people, three digits.
std::string format_seconds(Seconds seconds);

/// "7.5 %", "38 %", and beyond 100 % the factor: "4.6 times", "358 times". An excess over 1, 0 or more.
std::string format_share(double share);

/// "+12 %", "-3.5 %", and the factor of a prediction that is more than twice too long: "358 times". Predicted ÷
/// measured
/// - 1.
std::string format_error(double error);
/// "+12%", for a column; else as format_error.
std::string format_rounded_error(double error);

/// One line of comma-separated values (RFC 4180): a field with a comma, a quote or a line break is quoted.
std::string csv_line(const std::vector<std::string>& fields);
/// The shortest text that round-trips; nothing: an empty text.
std::string csv_number(const std::optional<double>& number);

/// The text; one that is longer than the column has '~' in place of its middle.
std::string fitted(const std::string& text, std::size_t width);

/// The widest line of a text for people.
inline constexpr std::size_t text_columns = 100;

/// Breaks lines of more than some characters at spaces, but not between a number and its unit. The rest of a line is
/// indented by two more.
/// @param columns  of a line; 0, or more than these: text_columns
std::string wrap_lines(std::string_view text, std::size_t columns = text_columns);

}  // namespace commpass
