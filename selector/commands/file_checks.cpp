#include "selector/commands/file_checks.hpp"

#include <filesystem>

#include "model/base/error.hpp"

namespace commpass {

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

}  // namespace commpass
