#include "selector/commands/output_format.hpp"

#include <cstdio>

#include "model/base/text.hpp"

namespace commpass {

void OutputFormat::add_to(Command& command) {
  command.add({{"--json", &json, "JSON on stdout"},
               {"--csv", &csv, "the table as comma-separated values, in seconds and bytes", {.excludes = {"--json"}}}});
}

void OutputFormat::print(const Document& document, const std::string& explanation) const {
  const auto form = json ? Form::json : csv ? Form::csv : Form::text;
  const auto words = wrap_lines(form == Form::text && !explanation.empty() ? "\n" + explanation : explanation);
  std::fputs(document.write(form).c_str(), stdout);
  std::fputs(words.c_str(), form == Form::text ? stdout : stderr);
}

}  // namespace commpass
