#include "model/route/strategy.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/nearest_names.hpp"
#include "model/base/text.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

/// The arguments in the order of the catalogue.
void sort_arguments(Strategy& strategy) {
  const auto& parameters = catalogue_row(strategy.route).parameters;
  const auto position = [&](const Argument& argument) {
    return std::ranges::find_if(parameters, [&](const auto& p) { return argument.name == p.name; }) -
           parameters.begin();
  };
  std::ranges::sort(strategy.arguments, {}, position);
}

}  // namespace

std::vector<std::int64_t> Strategy::values(const std::string& name) const {
  const auto argument = std::ranges::find(arguments, name, &Argument::name);
  return argument == arguments.end() ? std::vector<std::int64_t>{} : argument->values;
}

void Strategy::set(const std::string& name, std::vector<std::int64_t> values) {
  std::erase_if(arguments, [&](const Argument& argument) { return argument.name == name; });
  if (!values.empty()) arguments.push_back({name, std::move(values)});
  sort_arguments(*this);
}

bool is_automatic(const Strategy& strategy) {
  return std::ranges::any_of(strategy.arguments, [](const Argument& a) {
    return std::ranges::find(a.values, automatic_value) != a.values.end();
  });
}

namespace {

constexpr const char *automatic_text = "auto", *staggered = "staggered", *shared = "shared";

// No window or radix needs more: it is far above the number of ranks that a layout may have.
constexpr std::int64_t largest_value = std::int64_t{1} << 30;

std::vector<std::int64_t> parse_values(const Parameter& parameter, const std::string& text) {
  const bool is_list = parameter.kind == Parameter::Kind::dimensions,
             is_size = parameter.kind == Parameter::Kind::bytes;
  if (parameter.kind == Parameter::Kind::flag) return {1};
  if (parameter.may_be_automatic && text == automatic_text) return {automatic_value};
  std::vector<std::int64_t> values;
  for (const auto& piece : is_list ? split(text, 'x') : std::vector{text}) {
    const auto value = is_size ? parse_bytes(piece) : parse_number<std::int64_t>(piece);
    if (!value || *value < parameter.least || (!is_size && *value > largest_value)) return {};
    values.push_back(*value);
  }
  return values;
}

Window parse_window(const std::string& value, const std::string& text) {
  if (value == "unlimited") return {};
  const auto rounds = parse_number<std::int64_t>(value);
  if (!rounds || *rounds < 1 || *rounds > largest_value)
    throw InputError("strategy " + text, "window=" + value + " is out of range",
                     "use 1 or more rounds, or 'unlimited'");
  return {static_cast<int>(*rounds)};
}

/// The error for a piece of a strategy's text that is no parameter of its route.
InputError refuse_piece(const std::string& piece, const CatalogueRow& row, const std::string& text) {
  const auto key = piece.substr(0, piece.find('='));
  if (std::ranges::any_of(catalogue(), [&](const auto& each) { return key == each.name; }))
    return {"strategy " + text, "'" + key + "' is a strategy of its own", "name one at a time, or use --strategies"};
  std::vector<std::string> names{"window", staggered, shared};
  for (const auto& parameter : row.parameters) names.emplace_back(parameter.name);
  const auto near = did_you_mean(key, names);
  return {"strategy " + text, "'" + piece + "' is not understood", near + (near.empty() ? "use " : "Use ") + row.usage};
}

/// Does a piece of a list of strategies say more of the one before it?
bool is_argument(const std::string& piece) {
  if (piece.find('=') != std::string::npos) return true;
  const auto word = piece.substr(0, piece.find_first_of("@+"));
  return word == staggered || word == shared || std::ranges::any_of(catalogue(), [&](const CatalogueRow& row) {
           return std::ranges::any_of(row.parameters, [&](const Parameter& each) {
             return each.kind == Parameter::Kind::flag && word == each.name;
           });
         });
}

}  // namespace

std::vector<std::string> split_strategies(const std::string& list) {
  std::vector<std::string> result;
  for (const auto& several : split(list, ';')) {
    bool is_first = true;
    for (const auto& piece : split(several, ',')) {
      if (!is_first && is_argument(piece)) result.back() += "," + piece;
      else result.push_back(piece);
      is_first = false;
    }
  }
  return result;
}

Strategy parse_strategy(const std::string& text) {
  const auto at = text.find('@');
  const auto pieces = split(std::string_view(text).substr(0, at), ',');
  const auto& row = catalogue_row(pieces[0]);
  const auto fail = [&](const std::string& what) {
    return InputError("strategy " + text, what, std::string("use ") + row.usage);
  };

  Strategy strategy{row.name, {}, row.default_window, Coalescing::coalesced};
  bool window_given = false;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i] == staggered) {
      if (strategy.coalescing == Coalescing::staggered) throw fail("staggered is given twice");
      strategy.coalescing = Coalescing::staggered;
      continue;
    }
    if (pieces[i] == shared) {
      if (strategy.path.is_shared) throw fail("shared is given twice");
      strategy.path.is_shared = true;
      continue;
    }
    const auto equals = pieces[i].find('=');
    const auto key = pieces[i].substr(0, equals);
    const auto value = equals == std::string::npos ? "" : pieces[i].substr(equals + 1);
    if (key == "window" && !window_given) {
      strategy.window = parse_window(value, text);
      window_given = true;
      continue;
    }
    const auto parameter = std::ranges::find_if(row.parameters, [&](const auto& p) { return key == p.name; });
    if (parameter == row.parameters.end() && key == "window") throw fail("window is given twice");
    if (parameter == row.parameters.end()) throw refuse_piece(pieces[i], row, text);
    if (!strategy.values(key).empty()) throw fail(key + " is given twice");
    if (parameter->kind == Parameter::Kind::flag && equals != std::string::npos) throw fail(key + " takes no value");
    auto values = parse_values(*parameter, value);
    if (values.empty() && parameter->kind == Parameter::Kind::bytes && !parse_bytes(value)) {
      const auto [what, remedy] = size_problem(value);
      throw InputError("strategy " + text, pieces[i] + " " + what, remedy);
    }
    if (values.empty())
      throw fail(fmt::format("{}={} is out of range ({} is {})", key, value, key, parameter->meaning));
    strategy.arguments.push_back({key, std::move(values)});
  }
  sort_arguments(strategy);
  if (const auto reason = row.malformed(strategy); !reason.empty()) throw fail(reason);
  if (at != std::string::npos) {
    const bool is_shared = strategy.path.is_shared;
    strategy.path = parse_data_path(text.substr(at + 1), text);
    strategy.path.is_shared = is_shared;
  }
  if (strategy.path.is_shared && strategy.path.kind == DataPath::Kind::device)
    throw InputError("strategy " + text, "ranks share memory of the host alone", "leave 'shared' or '@device' out");
  return strategy;
}

Strategy parse_host_strategy(const std::string& text) {
  auto strategy = parse_strategy(text);
  if (!strategy.path.is_host())
    throw InputError("strategy " + text, "it moves data on devices, which this does not take",
                     "leave '" + to_string(strategy.path) + "' out");
  return strategy;
}

std::optional<Strategy> through_node_memory(Strategy strategy) {
  if (strategy.route == "mpi" || strategy.path.kind == DataPath::Kind::device) return std::nullopt;
  strategy.path.is_shared = true;
  return strategy;
}

std::string to_string(const Strategy& strategy) {
  const auto& row = catalogue_row(strategy.route);
  std::string text = strategy.route;
  for (const auto& [name, values] : strategy.arguments) {
    const auto parameter = std::ranges::find_if(row.parameters, [&, &n = name](const auto& p) { return n == p.name; });
    const auto kind = parameter == row.parameters.end() ? Parameter::Kind::dimensions : parameter->kind;
    text += fmt::format(",{}", name);
    if (values == std::vector{automatic_value}) text += fmt::format("={}", automatic_text);
    else if (kind == Parameter::Kind::bytes) text += fmt::format("={}", print_bytes(values[0]));
    else if (kind != Parameter::Kind::flag) text += fmt::format("={}", join(values, "x"));
  }
  if (strategy.window != row.default_window)
    text += strategy.window.unlimited() ? ",window=unlimited" : fmt::format(",window={}", strategy.window.rounds);
  if (strategy.coalescing == Coalescing::staggered) text += ",staggered";
  return text + to_string(strategy.path);
}

}  // namespace commpass
