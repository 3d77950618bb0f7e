#include "selector/commands/sweep_range.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/nearest_names.hpp"
#include "model/base/text.hpp"
#include "selector/report/sweep_report.hpp"

namespace commpass {

namespace {

constexpr std::size_t most_points = 2048;  // of an all-to-all these take a minute

const std::vector<SweepKey>& sweep_keys() {
  static const std::vector<SweepKey> keys{
      {"bytes", true, false, "", {}},        {"ranks", false, false, "", {}},
      {"ppn", false, false, "", {}},         {"radix", false, true, "radix", {"tuna", "tuna-node"}},
      {"cap", true, true, "cap", {"split"}}, {"window", false, true, "window", {"standard"}},
      {"dims", false, true, "n", {"stfw"}},  {"memory", false, false, "", {}},
  };
  return keys;
}

struct Step {
  bool multiplies = true;
  std::int64_t by = 2;
};

Step parse_step(const std::string& text, const std::string& where) {
  const bool multiplies = text.starts_with("x"), adds = text.starts_with("+");
  const auto by = multiplies || adds ? parse_bytes(std::string_view(text).substr(1)) : std::nullopt;
  if (!by || *by < (multiplies ? 2 : 1))
    throw InputError(where, fmt::format("'{}' is no step", text),
                     "use x2 or a larger factor, or +1 or a larger summand");
  return {multiplies, *by};
}

std::int64_t parse_memory(const std::string& word, const std::string& where) {
  if (word == name_of(DataPlace::host)) return memory_host;
  if (word == name_of(DataPlace::device)) return memory_device;
  throw InputError(where, "'" + word + "' is no memory", "use memory=host, memory=device or memory=host..device");
}

SweepRange parse_range(const std::string& text, const std::string& where) {
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw InputError(where, fmt::format("'{}' has no range", text), "use KEY=a..b, for example bytes=8..64KiB");
  const auto& key = sweep_key(text.substr(0, equals), where);
  auto range = text.substr(equals + 1);
  Step step;
  const bool is_memory = std::string(key.name) == "memory";
  if (std::string(key.name) == "dims" || is_memory) step = {false, 1};
  if (const auto colon = range.find(':'); colon != std::string::npos) {
    step = parse_step(range.substr(colon + 1), where);
    range.resize(colon);
  }
  const auto number = [&](const std::string& word) -> std::int64_t {
    if (is_memory) return parse_memory(word, where);
    const auto value = key.is_size ? parse_bytes(word) : parse_number<std::int64_t>(word);
    if (const auto hyphen = word.find('-'); !value && hyphen != std::string::npos && hyphen > 0)
      throw InputError(where, fmt::format("'{}' is no range", word),
                       fmt::format("write {}..{}", word.substr(0, hyphen), word.substr(hyphen + 1)));
    if (key.is_size && !value) {
      const auto [what, remedy] = size_problem(word);
      throw InputError(where, fmt::format("'{}' {}", word, what), remedy);
    }
    if (!value || *value < 1)
      throw InputError(where, fmt::format("'{}' is no value of {}", word, key.name),
                       key.is_size ? "use sizes from 1 on, for example 8..64KiB" : "use numbers from 1 on");
    return *value;
  };
  const auto dots = range.find("..");
  const auto first = number(range.substr(0, dots));
  const auto last = dots == std::string::npos ? first : number(range.substr(dots + 2));
  if (last < first)
    throw InputError(where, fmt::format("{} ends before it begins", range), "put the smaller value first");
  SweepRange result{key.name, {}};
  for (auto value = first;;) {
    result.values.push_back(value);
    if (result.values.size() > most_points || (step.multiplies ? value > last / step.by : step.by > last - value))
      break;
    value = step.multiplies ? value * step.by : value + step.by;
  }
  return result;
}

}  // namespace

const SweepKey& sweep_key(const std::string& name, const std::string& where) {
  const auto found = std::ranges::find(sweep_keys(), name, [](const SweepKey& key) { return std::string(key.name); });
  if (found != sweep_keys().end()) return *found;
  std::vector<std::string> names;
  for (const auto& key : sweep_keys()) names.emplace_back(key.name);
  const auto near = did_you_mean(name, names);
  throw InputError(where, fmt::format("'{}' is no key to sweep", name),
                   fmt::format("{}se {}", near.empty() ? "u" : near + "U", join(names, ", ")));
}

std::vector<SweepRange> parse_sweep(const std::string& text) {
  const auto where = "--sweep " + text;
  std::vector<SweepRange> ranges;
  std::size_t points = 1;
  for (const auto& piece : split(text, ',')) {
    auto range = parse_range(std::string(piece), where);
    if (std::ranges::find(ranges, range.key, &SweepRange::key) != ranges.end())
      throw InputError(where, fmt::format("{} is there twice", range.key), "give each key one range");
    points *= range.values.size();
    if (points > most_points)
      throw InputError(where, fmt::format("it has more than {} points", most_points),
                       "use a larger step (bytes=8..1MiB:x4) or shorter ranges");
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace commpass
