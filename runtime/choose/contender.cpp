#include "runtime/choose/contender.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/text.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

namespace {

/// The endings of names that say how data on devices gets into messages, each once. For data in host memory, and where
/// no path has a price, the empty one.
std::vector<std::string> paths_of(std::span<const Contender> contenders) {
  std::vector<std::string> paths;
  for (const auto& contender : contenders)
    if (const auto path = to_string(parse_strategy(contender.strategy).path);
        std::ranges::find(paths, path) == paths.end())
      paths.push_back(path);
  return paths;
}

constexpr char between_contenders = ';', between_fields = '\t';

}  // namespace

std::vector<Contender> with_programs_methods(std::span<const Contender> by_price, bool has_library_call) {
  std::vector<Contender> result;
  const auto add = [&](const Contender& contender) {
    if (std::ranges::find(result, contender.strategy, &Contender::strategy) == result.end())
      result.push_back(contender);
  };
  const auto add_by_name = [&](const std::string& name) {
    const auto known = std::ranges::find(by_price, name, &Contender::strategy);
    add(known != by_price.end() ? *known : Contender{name, {}, by_price.front().survey_interval});
  };
  for (const auto& path : paths_of(by_price)) {
    if (has_library_call) add_by_name("mpi" + path);
    add_by_name("standard" + path);
  }
  for (const auto& contender : by_price) add(contender);
  return result;
}

std::string to_text(std::span<const Contender> contenders) {
  std::string text;
  for (const auto& contender : contenders) {
    if (!text.empty()) text += between_contenders;
    text += fmt::format("{1}{0}{2}{0}{3}", between_fields, contender.strategy, contender.predicted_s.value_or(-1),
                        contender.survey_interval);
  }
  return text;
}

std::vector<Contender> parse_contenders(const std::string& text) {
  std::vector<Contender> contenders;
  if (text.empty()) return contenders;
  for (const auto& part : split(text, between_contenders)) {
    const auto fields = split(part, between_fields);
    const auto predicted_s = *parse_number<double>(fields[1]);
    contenders.push_back(
        {fields[0], predicted_s < 0 ? std::nullopt : std::optional(predicted_s), *parse_number<int>(fields[2])});
  }
  return contenders;
}

}  // namespace commpass
