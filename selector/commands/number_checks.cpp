#include "selector/commands/number_checks.hpp"

#include <fmt/core.h>

#include "model/base/text.hpp"

namespace commpass {

Check positive() {
  return {"POSITIVE", [](const std::string& text) {
            const auto number = parse_number<double>(text);
            return number && *number > 0 ? "" : fmt::format("'{}' is no number above 0; use one", text);
          }};
}

Check between(std::int64_t least, std::int64_t most) {
  return {fmt::format("INT in [{} - {}]", least, most), [=](const std::string& text) {
            const auto number = parse_number<std::int64_t>(text);
            return number && *number >= least && *number <= most
                       ? ""
                       : fmt::format("'{}' is no whole number from {} to {}; use one", text, least, most);
          }};
}

Check no_control_characters() {
  return {"", [](const std::string& text) {
            if (has_control_characters(text))
              return fmt::format("'{}' has control characters; leave them out", escape_control_characters(text));
            return text.find_first_not_of(' ') == std::string::npos ? "it is blank; give it a value" : std::string();
          }};
}

}  // namespace commpass
