#include "selector/commands/sweep_range.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/nearest_names.hpp"
#include "model/base/text.hpp"
#include "model/machine/parameters.hpp"
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
      {strong_ranks, false, false, "", {}},
  };
  return keys;
}

constexpr double most_exact = 1LL << 53;  // of integers in a double

/// The way from one value to the next.
struct Step {
  enum class Kind { factor, summand, count } kind = Kind::factor;
  double by = 2;
};

Step parse_step(const std::string& text, bool is_integer, const std::string& where) {
  const bool multiplies = text.starts_with("x"), adds = text.starts_with("+");
  const auto number = std::string_view(text).substr(multiplies || adds ? 1 : 0);
  std::optional<double> by;
  if (!is_integer && (multiplies || adds)) by = parse_number<double>(number);
  else if (const auto size = parse_bytes(number)) by = static_cast<double>(*size);
  constexpr double least_factor = 1.001;
  const double least = multiplies ? (is_integer ? 2 : least_factor) : adds ? (is_integer ? 1 : 1e-300) : 2;
  if (!by || !(*by >= least) || *by > most_exact)
    throw InputError(where, fmt::format("'{}' is no step", text),
                     "use x2 or a larger factor, +1 or a larger summand, or the number of values, 2 or more");
  return {multiplies ? Step::Kind::factor : adds ? Step::Kind::summand : Step::Kind::count, *by};
}

double parse_memory(const std::string& word, const std::string& where) {
  if (word == name_of(DataPlace::host)) return memory_host;
  if (word == name_of(DataPlace::device)) return memory_device;
  throw InputError(where, "'" + word + "' is no memory", "use memory=host, memory=device or memory=host..device");
}

/// Values from the first to the last.
std::vector<double> values_between(double first, double last, const Step& step, bool is_integer) {
  if (first == last) return {first};
  constexpr double rounding = 1e-9;  // relative; of integers there is none
  const double end = is_integer ? last : last * (1 + rounding);
  std::vector<double> values;
  const auto count = static_cast<std::size_t>(std::min(step.by, double{most_points + 1}));
  for (std::size_t i = 0; values.size() <= most_points; ++i) {
    const auto n = static_cast<double>(i);
    double value = first;
    switch (step.kind) {
      case Step::Kind::factor: value = first * std::pow(step.by, n); break;
      case Step::Kind::summand: value = first + step.by * n; break;
      case Step::Kind::count:
        if (i == count) return values;
        value = i + 1 == count ? last : first * std::pow(last / first, n / static_cast<double>(count - 1));
        if (is_integer) value = std::round(value);
        break;
    }
    if (!(value <= end)) break;
    if (values.empty() || value > values.back()) values.push_back(value);
  }
  return values;
}

const SweepKey* find_sweep_key(const std::string& name) {
  const auto found = std::ranges::find(sweep_keys(), name, [](const SweepKey& key) { return std::string(key.name); });
  return found == sweep_keys().end() ? nullptr : &*found;
}

[[noreturn]] void refuse_key(const std::string& name, const std::string& where) {
  std::vector<std::string> names, parameters;
  for (const auto& key : sweep_keys()) names.emplace_back(key.name);
  for (const auto& row : machine_parameters()) parameters.emplace_back(row.key);
  auto near = did_you_mean(name, names);
  if (near.empty()) near = did_you_mean(name.substr(name.rfind('.') + 1), parameters);
  throw InputError(where, fmt::format("'{}' is no key to sweep", name),
                   fmt::format("{}se {}, or a key of 'commpass profile parameters'", near.empty() ? "u" : near + "U",
                               join(names, ", ")));
}

/// Reads the values of one key.
class RangeParser {
 public:
  RangeParser(const std::string& name, const std::string& where)
      : where_(where),
        name_(name),
        row_(find_sweep_key(name)),
        parameter_(row_ ? nullptr : find_parameter(name.substr(name.rfind('.') + 1))) {
    if (!row_ && !parameter_) refuse_key(name, where);
  }

  /// @param items  values and ranges
  SweepRange parse(const std::vector<std::string>& items) {
    SweepRange result{name_, {}, row_};
    std::size_t factors = 0;
    for (const auto& item : items) {
      if (row_ == nullptr && item.starts_with('*')) ++factors;
      for (const auto value : parse_item(item)) result.values.push_back(value);
    }
    if (factors > 0 && factors < items.size())
      throw InputError(where_, fmt::format("{} has values and factors", name_), "write '*' before each or before none");
    std::ranges::sort(result.values);
    result.values.erase(std::unique(result.values.begin(), result.values.end()), result.values.end());
    if (!row_) result.key += factors > 0 ? "*" : "=";
    return result;
  }

 private:
  bool is_memory() const { return row_ && std::string(row_->name) == "memory"; }
  bool is_integer(bool is_factor) const { return row_ || (parameter_->is_integer() && !is_factor); }

  std::vector<double> parse_item(std::string range) const {
    const bool is_factor = !row_ && range.starts_with('*');
    Step step;
    if (is_memory() || (row_ && std::string(row_->name) == "dims")) step = {Step::Kind::summand, 1};
    if (const auto colon = range.find(':'); colon != std::string::npos) {
      step = parse_step(range.substr(colon + 1), is_integer(is_factor), where_);
      range.resize(colon);
    }
    const auto dots = range.find("..");
    const auto first = parse_value(range.substr(0, dots), is_factor);
    const auto last = dots == std::string::npos ? first : parse_value(range.substr(dots + 2), is_factor);
    if (last < first)
      throw InputError(where_, fmt::format("{} ends before it begins", range), "put the smaller value first");
    return values_between(first, last, step, is_integer(is_factor));
  }

  double parse_value(std::string word, bool is_factor) const {
    if (is_memory()) return parse_memory(word, where_);
    if (!row_) return parse_parameter(std::move(word), is_factor);
    const auto value = row_->is_size ? parse_bytes(word) : parse_number<std::int64_t>(word);
    if (const auto hyphen = word.find('-'); !value && hyphen != std::string::npos && hyphen > 0)
      throw InputError(where_, fmt::format("'{}' is no range", word),
                       fmt::format("write {}..{}", word.substr(0, hyphen), word.substr(hyphen + 1)));
    if (row_->is_size && !value) {
      const auto [what, remedy] = size_problem(word);
      throw InputError(where_, fmt::format("'{}' {}", word, what), remedy);
    }
    if (!value || *value < 1 || static_cast<double>(*value) > most_exact)
      throw InputError(where_, fmt::format("'{}' is no value of {}", word, name_),
                       row_->is_size ? "use sizes from 1 on, for example 8..64KiB" : "use numbers from 1 on");
    return static_cast<double>(*value);
  }

  /// Only whether it is a number: the profile refuses what it may not have.
  double parse_parameter(std::string word, bool is_factor) const {
    if (is_factor && word.starts_with('*')) word.erase(0, 1);
    auto value = parse_number<double>(word);
    if (!is_factor && parameter_->unit == MachineParameter::Unit::bytes)
      if (const auto bytes = parse_bytes(word)) value = static_cast<double>(*bytes);
    if (!value || !std::isfinite(*value) || *value <= 0)
      throw InputError(where_, fmt::format("'{}' is no value of {}", word, name_),
                       is_factor ? "use factors above 0, for example *0.5..*2"
                                 : "use numbers above 0, or factors, for example *0.5..*2");
    return *value;
  }

  const std::string& where_;
  std::string name_;
  const SweepKey* row_;
  const MachineParameter* parameter_;
};

}  // namespace

std::string assignment_of(const SweepRange& range, double value) { return range.key + csv_number(value); }

std::vector<SweepRange> parse_sweep(const std::string& text) {
  const auto where = "--sweep " + text;
  // A piece without a key goes on with the list before it.
  std::vector<std::pair<std::string, std::vector<std::string>>> lists;
  for (const auto& piece : split(text, ',')) {
    const auto equals = piece.find('=');
    if (equals != std::string::npos) lists.push_back({piece.substr(0, equals), {piece.substr(equals + 1)}});
    else if (!lists.empty()) lists.back().second.push_back(piece);
    else throw InputError(where, fmt::format("'{}' has no range", piece), "use KEY=a..b, for example bytes=8..64KiB");
  }
  std::vector<SweepRange> ranges;
  std::size_t points = 1;
  for (const auto& [name, items] : lists) {
    auto range = RangeParser(name, where).parse(items);
    if (std::ranges::find(ranges, range.key, &SweepRange::key) != ranges.end())
      throw InputError(where, fmt::format("{} is there twice", name), "give each key one range");
    points *= range.values.size();
    if (points > most_points)
      throw InputError(where, fmt::format("it has more than {} points", most_points),
                       "use a larger step (bytes=8..1MiB:x4) or shorter ranges");
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace commpass
