#include "model/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

namespace commpass {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (true) {
    const auto end = text.find(separator);
    pieces.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  Bytes unit = 1;
  const auto digits = text.find_first_not_of("0123456789");
  if (digits != std::string_view::npos) {
    const auto suffix = text.substr(digits);
    if (suffix == "KiB") unit = Bytes{1} << 10;
    else if (suffix == "MiB") unit = Bytes{1} << 20;
    else if (suffix == "GiB") unit = Bytes{1} << 30;
    else if (suffix != "B") return std::nullopt;
    text = text.substr(0, digits);
  }
  const auto count = parse_number<Bytes>(text);
  if (!count || *count > std::numeric_limits<Bytes>::max() / unit) return std::nullopt;
  return *count * unit;
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

}  // namespace commpass
