// Numbers and lists in text, read strictly: the whole text must be the number.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/types.hpp"

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

/// "512", "16KiB", "4MiB", "1GiB" or "16k" is no size: only B, KiB, MiB and GiB are units.
std::optional<Bytes> parse_bytes(std::string_view text);

/// "512", "16KiB", "3MiB": exact and as short as it goes, for parse_bytes.
std::string print_bytes(Bytes bytes);

/// "1.57", "+12": for people, so many digits behind the point. A million and more are "1.5e+300", since nobody counts
/// digits.
std::string format_fixed(double value, int decimals, bool with_sign = false);

/// "512 B", "16 KiB", "3.4 MiB": for people, three digits.
std::string format_bytes(double bytes);

/// "3.21 us", "1.5 ms": for people, three digits.
std::string format_seconds(Seconds seconds);

}  // namespace commpass
