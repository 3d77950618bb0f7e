#include "model/base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/base/error.hpp"
#include "model/base/format.hpp"

namespace commpass {

InputError::InputError(const std::string& where, const std::string& what, const std::string& remedy)
    : Error(escape_control_characters(where + ": " + what + "; " + remedy + ".")) {}

std::string_view without_byte_order_mark(std::string_view text, const std::string& origin) {
  constexpr std::string_view utf_8 = "\xEF\xBB\xBF";
  for (const std::string_view utf_16 : {"\xFF\xFE", "\xFE\xFF"})
    if (text.starts_with(utf_16)) throw InputError(origin, "it is written in UTF-16", "save it as UTF-8");
  return text.starts_with(utf_8) ? text.substr(utf_8.size()) : text;
}

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find_first_of("\r\n"), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + (text.substr(end).starts_with("\r\n") ? 2 : 1), text.size()));
  return line;
}

namespace {

bool is_control_character(char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f'; }

}  // namespace

bool has_control_characters(std::string_view text) { return std::ranges::any_of(text, is_control_character); }

std::string escape_control_characters(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\n') result += "\\n";
    else if (letter == '\t') result += "\\t";
    else if (is_control_character(letter)) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    else result += letter;
  }
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (auto& letter : result)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return result;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (true) {
    const auto end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

std::size_t count_digits(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  return static_cast<std::size_t>(end - text.begin());
}

/// "1.5e3KiB": mantissa 15, shift 2, suffix "KiB".
struct SizeText {
  std::string mantissa;
  std::int64_t shift = 0;  ///< the mantissa is to be multiplied by this power of ten
  std::string_view suffix;
};

std::optional<SizeText> split_size(std::string_view text) {
  const auto whole = count_digits(text);
  SizeText result{std::string(text.substr(0, whole)), 0, text.substr(whole)};
  if (whole == 0) return std::nullopt;
  if (result.suffix.starts_with('.')) {
    const auto decimals = count_digits(result.suffix.substr(1));
    if (decimals == 0) return std::nullopt;
    result.mantissa += result.suffix.substr(1, decimals);
    result.shift = -static_cast<std::int64_t>(decimals);
    result.suffix.remove_prefix(1 + decimals);
  }
  if (result.suffix.starts_with('e') || result.suffix.starts_with('E')) {
    const auto sign = result.suffix.substr(1).starts_with('+') || result.suffix.substr(1).starts_with('-') ? 1U : 0U;
    const auto digits = count_digits(result.suffix.substr(1 + sign));
    if (digits > 0) {
      const auto power = parse_number<std::int64_t>(result.suffix.substr(1 + sign, digits));
      constexpr std::int64_t most_power = 1000;  // far beyond every size
      result.shift += (result.suffix[1] == '-' ? -1 : 1) * std::min(power.value_or(most_power), most_power);
      result.suffix.remove_prefix(1 + sign + digits);
    }
  }
  if (const auto unit = result.suffix.find_first_not_of(' '); unit != std::string_view::npos)  // "16 KiB"
    result.suffix.remove_prefix(unit);
  return result;
}

/// In whatever case, for no two units differ in it alone.
std::optional<Bytes> unit_of(std::string_view suffix) {
  constexpr Bytes kilo = 1000, kibi = 1024;
  constexpr std::array<std::pair<std::string_view, Bytes>, 10> units{{{"", 1},
                                                                      {"b", 1},
                                                                      {"kib", kibi},
                                                                      {"mib", kibi * kibi},
                                                                      {"gib", kibi * kibi * kibi},
                                                                      {"tib", kibi * kibi * kibi * kibi},
                                                                      {"kb", kilo},
                                                                      {"mb", kilo * kilo},
                                                                      {"gb", kilo * kilo * kilo},
                                                                      {"tb", kilo * kilo * kilo * kilo}}};
  for (const auto& [name, unit] : units)
    if (lower_case(suffix) == name) return unit;
  return std::nullopt;
}

/// Exactly; nothing where it is no whole number or too large.
std::optional<Bytes> whole_bytes(const SizeText& size, Bytes unit) {
  constexpr Bytes ten = 10, most = std::numeric_limits<Bytes>::max();
  auto count = parse_number<Bytes>(size.mantissa);
  if (!count) return std::nullopt;
  if (*count == 0) return 0;
  auto shift = size.shift;
  for (; shift < 0 && *count % ten == 0; ++shift) *count /= ten;
  for (; shift < 0 && unit % ten == 0; ++shift) unit /= ten;
  if (*count > most / unit) return std::nullopt;
  auto bytes = *count * unit;
  for (; shift < 0 && bytes % ten == 0; ++shift) bytes /= ten;
  for (; shift > 0 && bytes <= most / ten; --shift) bytes *= ten;
  return shift == 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto size = split_size(text);
  const auto unit = size ? unit_of(size->suffix) : std::nullopt;
  return unit ? whole_bytes(*size, *unit) : std::nullopt;
}

SizeProblem size_problem(std::string_view text) {
  const auto size = split_size(text);
  const std::string examples = "write for example 512, 16KiB (of 1024 B) or 16kB (of 1000 B)";
  if (!size) return {"is no size", examples};
  const auto number = std::string(text.substr(0, text.size() - size->suffix.size()));
  const auto unit = lower_case(size->suffix);
  if (unit == "k" || unit == "m" || unit == "g" || unit == "t") {
    const auto prefix = unit == "k" ? std::string("k") : std::string(1, static_cast<char>(unit[0] - 'a' + 'A'));
    const auto binary = unit == "k" ? std::string("K") : prefix;
    return {"is ambiguous",
            fmt::format("write {}{}iB (powers of 1024) or {}{}B (powers of 1000)", number, binary, number, prefix)};
  }
  if (!unit_of(size->suffix))
    return {fmt::format("has no unit that is known ('{}')", size->suffix),
            "use B, KiB, MiB, GiB, TiB (powers of 1024), kB, MB, GB or TB (powers of 1000)"};
  const bool is_large = size->shift >= 0 || !parse_number<Bytes>(size->mantissa);
  return is_large ? SizeProblem{"is too large", "use at most 8388607TiB"}
                  : SizeProblem{"is no whole number of bytes", "write one"};
}

std::string print_bytes(Bytes bytes) {
  constexpr Bytes step = 1024;
  constexpr std::array units{"", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  for (; bytes > 0 && bytes % step == 0 && unit + 1 < units.size(); ++unit) bytes /= step;
  return fmt::format("{}{}", bytes, units[unit]);
}

namespace {

constexpr double too_long = 1e6;  // to be written with all its digits

std::string with_three_digits(double value) {
  const bool is_short = std::abs(value) < too_long && (std::abs(value) >= 100 || value == std::floor(value));
  return is_short ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

}  // namespace

std::string format_fixed(double value, int decimals, bool with_sign) {
  const auto text = std::abs(value) < too_long ? fmt::format("{:.{}f}", value, decimals) : fmt::format("{:.3g}", value);
  return with_sign && !std::signbit(value) ? "+" + text : text;
}

std::string format_bytes(double bytes) {
  constexpr double step = 1024;
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return with_three_digits(bytes) + " " + units[unit];
}

std::string format_seconds(Seconds seconds) {
  constexpr std::array<std::pair<double, const char*>, 3> units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}}};
  for (const auto& [size, name] : units)
    if (std::abs(seconds) >= size) return with_three_digits(seconds / size) + " " + name;
  if (seconds == 0) return "0 s";
  return with_three_digits(seconds / 1e-9) + " ns";
}

std::string format_share(double share) {
  constexpr double percent = 100, whole_from = 9.95;
  if (share > 1) return format_fixed(1 + share, 1 + share < whole_from ? 1 : 0) + " times";
  return format_fixed(percent * share, percent * share < whole_from ? 1 : 0) + " %";
}

std::string format_error(double error) {
  constexpr double percent = 100;
  return error > 1 ? format_share(error) : format_fixed(percent * error, 1, true) + " %";
}

std::string format_rounded_error(double error) {
  constexpr double percent = 100;
  return error > 1 ? format_share(error) : format_fixed(percent * error, 0, true) + "%";
}

namespace {

/// Of a text in UTF-8.
std::size_t characters_of(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
  return count;
}

/// The words of a line, a number and its unit as one.
std::vector<std::string> words_of(std::string_view line) {
  constexpr std::size_t unit_width = 5;  // "KiB),"
  std::vector<std::string> words;
  for (auto& piece : split(line, ' ')) {
    const bool is_unit = !words.empty() && !words.back().empty() && words.back().back() >= '0' &&
                         words.back().back() <= '9' && piece.size() <= unit_width;
    if (is_unit) words.back() += " " + piece;
    else words.push_back(std::move(piece));
  }
  return words;
}

std::string wrap_line(std::string_view line, std::size_t most) {
  constexpr std::size_t further = 2;
  const auto indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string continued(indent + further, ' ');
  std::string result(indent, ' ');
  std::size_t columns = indent;
  bool is_first = true;
  for (const auto& word : words_of(line.substr(indent))) {
    const auto width = characters_of(word);
    if (!is_first && columns + 1 + width > most) {
      result += "\n" + continued;
      columns = continued.size();
    } else if (!is_first) {
      result += ' ';
      ++columns;
    }
    result += word;
    columns += width;
    is_first = false;
  }
  return result;
}

}  // namespace

std::string wrap_lines(std::string_view text, std::size_t columns) {
  const auto most = columns == 0 ? text_columns : std::min(columns, text_columns);
  std::string result;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    result += characters_of(line) > most ? wrap_line(line, most) : std::string(line);
    if (end == text.size()) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string csv_line(const std::vector<std::string>& fields) {
  std::vector<std::string> quoted;
  for (auto field : fields) {
    if (field.find_first_of(",\"\r\n") != std::string::npos) {
      for (auto at = field.find('"'); at != std::string::npos; at = field.find('"', at + 2)) field.insert(at, 1, '"');
      field.insert(0, 1, '"');
      field += '"';
    }
    quoted.push_back(std::move(field));
  }
  return join(quoted, ",") + "\n";
}

std::string csv_number(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; }

std::string fitted(const std::string& text, std::size_t width) {
  if (text.size() <= width) return text;
  const auto end = (width - 1) / 2;
  return text.substr(0, width - 1 - end) + "~" + text.substr(text.size() - end);
}

}  // namespace commpass
