#include "selector/commands/number_checks.hpp"

#include <fmt/format.h>

#include "model/text.hpp"

namespace commpass {

std::string positive_number(const std::string& text) {
  const auto number = parse_number<double>(text);
  return number && *number > 0 ? "" : fmt::format("'{}' is no number above 0; use one", text);
}

std::string number_from_zero(const std::string& text) {
  const auto number = parse_number<double>(text);
  return number && *number >= 0 ? "" : fmt::format("'{}' is no number from 0 on; use one", text);
}

}  // namespace commpass
