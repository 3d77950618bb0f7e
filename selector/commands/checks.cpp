#include "selector/commands/checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
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

Check ends_in(const std::vector<std::string>& endings) {
  return {"", [=](const std::string& name) {
            std::filesystem::path path(name);
            if (path.extension() == ".gz") path.replace_extension();
            const auto ending = path.extension().string();
            const bool is_known = ending.empty() || std::ranges::find(endings, ending) != endings.end();
            return is_known ? ""
                            : fmt::format("'{}' ends in '{}', of which no file can be written; end it in {}",
                                          escape_control_characters(name), ending, join(endings, " or "));
          }};
}

Switch output_switch(std::string* output, const std::string& help, const std::vector<std::string>& endings,
                     bool is_required) {
  return {"-o,--output", output, help, {.required = is_required, .checks = {ends_in(endings)}}};
}

namespace {

bool are_one_file(const std::string& first, const std::string& second) {
  namespace fs = std::filesystem;
  std::error_code none;
  if (fs::equivalent(first, second, none)) return !fs::is_character_file(first, none);  // not /dev/null
  return !fs::exists(first, none) && fs::weakly_canonical(first, none) == fs::weakly_canonical(second, none);
}

}  // namespace

void refuse_standard_output(const std::string& output) {
  if (output == "-") throw InputError("output -", "something else is printed to standard output", "write it to a file");
}

void check_apart(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    for (const auto& input : inputs)
      if (!input.empty() && are_one_file(input, outputs[i]))
        throw InputError(outputs[i], "it is read, too", "write to another file");
    for (std::size_t k = 0; k < i; ++k)
      if (!outputs[k].empty() && are_one_file(outputs[k], outputs[i]))
        throw InputError(outputs[i], "two outputs have this name", "give each a file of its own");
  }
}

void require_plain_messages(const Pattern& pattern, bool constant_size) {
  for (const auto& edge : pattern.edges) {
    if (edge.bytes > std::numeric_limits<int>::max())
      throw InputError("--sparse", fmt::format("a message has {} bytes", edge.bytes), "use fewer than 2^31");
    if (constant_size && edge.bytes != pattern.edges.front().bytes)
      throw InputError("--sparse constant",
                       fmt::format("there are messages of {} and of {} bytes", pattern.edges.front().bytes, edge.bytes),
                       "use --sparse variable");
  }
}

}  // namespace commpass
