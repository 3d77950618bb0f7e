#include "selector/commands/prediction.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/stand_ins.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/baseline.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/profile_note.hpp"

namespace commpass {

namespace {

/// The text of a generator with another value of a key.
std::string with_key(const std::string& generator, const std::string& key, const std::string& value) {
  const auto colon = generator.find(':');
  auto text = generator.substr(0, colon) + ":" + key + "=" + value;
  if (colon != std::string::npos)
    for (const auto& piece : split(generator.substr(colon + 1), ','))
      if (!piece.empty() && !piece.starts_with(key + "=")) text += "," + piece;
  return text;
}

std::string key_of(const std::string& generator, const std::string& key) {
  for (const auto& piece : split(std::string_view(generator).substr(generator.find(':') + 1), ','))
    if (piece.starts_with(key + "=")) return std::string(piece.substr(key.size() + 1));
  return {};
}

bool has_key(const std::string& generator, const std::string& key) {
  const auto kind = generator.substr(0, generator.find(':'));
  const auto found =
      std::ranges::find(generators(), kind, [](const Generator& known) { return std::string(known.name); });
  return found != generators().end() &&
         std::ranges::any_of(found->keys, [&](const GeneratorKey& known) { return known.name == key; });
}

/// A grid of `ranks` ranks whose dimensions are as equal as their prime factors allow, the largest first.
std::string even_grid(std::int64_t ranks, std::size_t dimensions) {
  std::vector<std::int64_t> factors;
  for (std::int64_t factor = 2; factor * factor <= ranks; ++factor)
    for (; ranks % factor == 0; ranks /= factor) factors.push_back(factor);
  if (ranks > 1) factors.push_back(ranks);
  std::vector<std::int64_t> sizes(std::max<std::size_t>(dimensions, 1), 1);
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor) *std::ranges::min_element(sizes) *= *factor;
  std::ranges::sort(sizes, std::greater());
  return join(sizes, "x");
}

void set_ranks(PatternArguments& pattern, std::int64_t ranks, const std::string& where) {
  if (ranks > std::numeric_limits<int>::max())
    throw InputError(where, fmt::format("{} ranks are too many", ranks), "use fewer");
  if (pattern.generator.empty()) pattern.ranks = static_cast<int>(ranks);
  else if (has_key(pattern.generator, "ranks"))
    pattern.generator = with_key(pattern.generator, "ranks", std::to_string(ranks));
  else if (has_key(pattern.generator, "dims"))
    pattern.generator =
        with_key(pattern.generator, "dims", even_grid(ranks, split(key_of(pattern.generator, "dims"), 'x').size()));
  else throw InputError(where, "this pattern has its ranks", "sweep another key, or another kind of pattern");
}

void set_bytes(PatternArguments& pattern, Bytes bytes, const std::string& where) {
  if (!pattern.matrix_file.empty()) pattern.value_bytes = bytes;
  else if (has_key(pattern.generator, "bytes"))
    pattern.generator = with_key(pattern.generator, "bytes", std::to_string(bytes));
  else throw InputError(where, "this pattern has its bytes", "sweep another key, or a pattern that takes bytes");
}

/// The ranks of a generated pattern.
std::int64_t ranks_of(const std::string& generator) {
  std::int64_t ranks = 1;
  const bool is_grid = has_key(generator, "dims");
  for (const auto& size : split(key_of(generator, is_grid ? "dims" : "ranks"), 'x'))
    ranks *= std::max<std::int64_t>(1, parse_number<int>(size).value_or(1));
  return ranks;
}

/// Strong scaling: other ranks for one problem. A matrix and a pattern file are one. A generated pattern keeps its
/// bytes in all: blocks between all ranks shrink with the square of the ranks, those of a fixed number of destinations
/// with the ranks, and those between neighbours on a grid of d dimensions with the surface of the part of a rank.
void scale_strongly(PatternArguments& pattern, std::int64_t ranks, const std::string& where) {
  const auto before = pattern.generator;
  set_ranks(pattern, ranks, where);
  if (before.empty()) return;
  const auto bytes = parse_bytes(key_of(before, "bytes"));
  if (!bytes) throw InputError(where, "this pattern has its bytes", "use ranks, or a pattern that takes bytes");
  const double growth = static_cast<double>(ranks_of(pattern.generator)) / static_cast<double>(ranks_of(before));
  const auto dimensions = static_cast<double>(split(key_of(before, "dims"), 'x').size());
  const double power = has_key(before, "dims") ? (dimensions - 1) / dimensions : has_key(before, "degree") ? 1 : 2;
  const double scaled = std::round(static_cast<double>(*bytes) / std::pow(growth, power));
  set_bytes(pattern, std::max<Bytes>(1, static_cast<Bytes>(scaled)), where);
}

/// May a strategy have this parameter? A window may have any.
bool takes(const std::string& strategy, const std::string& parameter) {
  const auto& row = catalogue_row(strategy.substr(0, strategy.find_first_of(",@")));
  return parameter == "window" ||
         std::ranges::any_of(row.parameters, [&](const Parameter& known) { return known.name == parameter; });
}

/// "tuna,radix=4" with radix 8. Of the two ways to give dimensions one remains.
std::string with_parameter(const std::string& strategy, const std::string& parameter, double value) {
  std::string text;
  const auto at = strategy.find('@');
  for (const auto& piece : split(std::string_view(strategy).substr(0, at), ','))
    if (!piece.starts_with(parameter + "=") && !(parameter == "n" && piece.starts_with("dims=")))
      text += (text.empty() ? "" : ",") + std::string(piece);
  return fmt::format("{},{}={}{}", text, parameter, static_cast<std::int64_t>(value),
                     at == std::string::npos ? "" : strategy.substr(at));
}

std::string names_without(const std::string& strategy, const std::vector<SweepRange>& ranges) {
  std::string text;
  const auto at = strategy.find('@');
  for (const auto& piece : split(std::string_view(strategy).substr(0, at), ',')) {
    const bool is_swept = std::ranges::any_of(ranges, [&](const SweepRange& range) {
      return range.row && range.row->is_of_strategy && piece.starts_with(std::string(range.row->parameter) + "=");
    });
    if (!is_swept) text += (text.empty() ? "" : ",") + std::string(piece);
  }
  return at == std::string::npos ? text : text + strategy.substr(at);
}

/// The strategies to price at every point: those that are named, or those that the keys are about; empty: all.
std::vector<std::string> strategies_of(const PredictArguments& arguments, const std::vector<SweepRange>& ranges,
                                       const std::string& where) {
  auto names = arguments.selection.strategy_names();
  for (const auto& range : ranges) {
    if (!range.row || !range.row->is_of_strategy) continue;
    const auto& key = *range.row;
    if (names.empty()) names = key.routes;
    if (std::ranges::none_of(names, [&](const std::string& name) { return takes(name, key.parameter); }))
      throw InputError(where, fmt::format("none of the strategies named takes {}", key.parameter),
                       fmt::format("add --strategy {}", key.routes.front()));
  }
  return names;
}

class Sweep {
 public:
  Sweep(const PredictArguments& arguments, const std::vector<SweepRange>& ranges)
      : arguments_(arguments),
        ranges_(ranges),
        environment_(read_environment()),
        profile_(arguments.selection.read_set_profile(environment_)),
        machine_(with_stand_ins(profile_.machine)),
        model_(arguments.selection.cost_model()),
        named_(strategies_of(arguments, ranges, where_)) {}

  SweepReport run() {
    SweepReport report;
    std::size_t count = 1;
    for (const auto& range : ranges_) {
      report.keys.push_back(range.key);
      count *= range.values.size();
    }
    for (const auto& name : named_) report.named.push_back(names_without(name, ranges_));
    std::vector<Setting> settings;
    for (std::size_t p = 0; p < count; ++p) {
      std::vector<double> values(ranges_.size());
      for (std::size_t k = ranges_.size(), rest = p; k-- > 0; rest /= ranges_[k].values.size())
        values[k] = ranges_[k].values[rest % ranges_[k].values.size()];
      settings.push_back(set(std::move(values)));
    }
    for (std::size_t i = 0; i < named_.size(); ++i) require_a_value(settings, i);
    std::exception_ptr first_error;
    for (const auto& setting : settings) report.points.push_back(predict(setting, first_error));
    if (first_error && std::ranges::none_of(report.points, [](const auto& point) { return point.chosen.has_value(); }))
      std::rethrow_exception(first_error);
    report.context = {{"profile", machine_.name},
                      {"pattern", arguments_.pattern.describe()},
                      {"layout", describe_layout()},
                      {"model", name_of(model_)}};
    if (std::ranges::find(report.keys, "ppn") != report.keys.end()) report.context[2].second = "as swept";
    if (std::ranges::all_of(report.points, [](const SweepPoint& point) { return point.nodes <= 1; }))
      report.context[2].second = "one node";
    arguments_.selection.add_settings(report.context);
    if (!evaluation_.empty()) report.context.emplace_back("evaluation", evaluation_);
    return report;
  }

 private:
  /// The prediction at one point.
  struct Setting {
    std::vector<double> values;
    PredictArguments arguments;
    std::vector<std::string> names;
    std::vector<std::string> parameters{};  ///< other values of parameters of the profile, as --set takes them
  };

  std::string describe_layout() const {
    const auto& given = arguments_.selection.layout;
    if (given.ppn > 0) return fmt::format("{} ranks on a node", given.ppn);
    return given.layout.empty() ? environment_.layout.value_or("") : given.layout;
  }

  Setting set(std::vector<double> values) const {
    Setting setting{std::move(values), arguments_, named_};
    auto& arguments = setting.arguments;
    for (std::size_t k = 0; k < ranges_.size(); ++k) {
      const auto& [name, all, row] = ranges_[k];
      const auto value = setting.values[k];
      const auto integer = static_cast<std::int64_t>(value);
      if (!row) {
        setting.parameters.push_back(assignment_of(ranges_[k], value));
      } else if (row->is_of_strategy) {
        for (auto& strategy : setting.names)
          if (takes(strategy, row->parameter)) strategy = with_parameter(strategy, row->parameter, value);
      } else if (name == "bytes") {
        set_bytes(arguments.pattern, integer, where_);
      } else if (name == "ranks" || name == strong_ranks) {
        if (!arguments.selection.layout.layout.empty())
          throw InputError(where_, "--layout has a number of ranks", "name --ppn instead");
        (name == "ranks" ? set_ranks : scale_strongly)(arguments.pattern, integer, where_);
      } else if (name == "memory") {
        arguments.selection.memory = print_value(name, value);
      } else {
        if (!arguments.selection.layout.layout.empty())
          throw InputError(where_, "--layout has its ranks on a node", "leave it out");
        if (value > std::numeric_limits<int>::max())
          throw InputError(where_, fmt::format("{} ranks on a node are too many", integer), "use fewer");
        arguments.selection.layout.ppn = static_cast<int>(value);
      }
    }
    return setting;
  }

  /// The machine with the parameters of a point. Prices refer to it.
  void set_machine(const std::vector<std::string>& parameters) {
    if (parameters == parameters_) return;
    auto profile = profile_;
    set_parameters(profile, parameters, where_);
    machine_ = with_stand_ins(std::move(profile.machine));
    parameters_ = parameters;
  }

  /// A point whose pattern there cannot be, of few ranks for example, is told as such.
  SweepPoint predict(const Setting& setting, std::exception_ptr& first_error) {
    SweepPoint point;
    point.values = setting.values;
    set_machine(setting.parameters);
    std::vector<std::optional<Strategy>> strategies;
    try {
      strategies = parse(setting);
      find_pricing(setting.arguments, strategies);
    } catch (const InputError& error) {
      const bool is_swept = std::ranges::any_of(ranges_, [](const auto& range) {
        return range.key == "bytes" || range.key == "ranks" || range.key == strong_ranks;
      });
      if (!is_swept) throw;  // it is the same pattern at all points
      if (!first_error) first_error = std::current_exception();
      point.named.resize(setting.names.size());
      point.reason = error.what();
      if (point.reason.ends_with('.')) point.reason.pop_back();
      return point;
    }
    price(setting.arguments, *pricing_, strategies, point);
    return point;
  }

  /// A pattern is read or made once for points in a row that differ in strategies and layouts alone.
  void find_pricing(const PredictArguments& arguments, const std::vector<std::optional<Strategy>>& strategies) {
    auto predicted = arguments;
    // As for a large all-to-all: the numbers of ranks of a sweep may lie on both sides of where edges are made.
    predicted.prefers_closed_form =
        std::ranges::all_of(strategies, [](const auto& strategy) { return !strategy || has_closed_form(*strategy); });
    const auto& pattern = predicted.pattern;
    std::tuple key{pattern.generator, pattern.ranks, pattern.value_bytes, predicted.prefers_closed_form,
                   predicted.selection.place()};
    if (pricing_ && priced_ == key) return;
    pricing_.reset();  // before another is made: patterns may be large
    pricing_ = pricing_of(predicted, machine_, model_);
    priced_ = std::move(key);
  }

  void price(const PredictArguments& arguments, const Pricing& pricing,
             const std::vector<std::optional<Strategy>>& strategies, SweepPoint& point) {
    evaluation_ = pricing.evaluation;
    const auto layout = required_layout(arguments.selection.layout, pricing.ranks, environment_);
    point.nodes = layout.nodes();
    warned_of_uneven_ = warned_of_uneven_ || arguments.selection.layout.warn_uneven(pricing.ranks);
    std::vector<Candidate> ranking;
    try {
      if (strategies.empty()) ranking = pricing.rank(layout, {});
      for (std::size_t i = 0; i < strategies.size(); ++i) {
        point.named.emplace_back();
        if (!strategies[i]) continue;
        try {
          ranking.push_back(pricing.price_one(layout, *strategies[i]));
          point.named.back() = ranking.back().cost.seconds;
        } catch (const NotApplicable& error) {
          point.reason = error.reason();
        }
      }
    } catch (const NotApplicable& error) {
      point.reason = error.reason();
    }
    remove_parts(ranking);
    if (ranking.empty()) {
      if (point.reason.empty()) point.reason = "no strategy of these takes such values";
      return;
    }
    const auto& calls = arguments.selection.calls;
    if (!strategies.empty()) {
      sort_ranking(ranking, calls);
      ranking = prefer_simplest_of_ties(std::move(ranking), machine_, calls);
    }
    point.reason.clear();
    point.note = profile_note(machine_, layout, model_, std::span(ranking).first(1));
    point.chosen = ranking.front();
    point.ties = find_ties(ranking, uncertainty_of(machine_), calls);
    const auto place = arguments.selection.place();
    for (const auto& row : missing_baselines(ranking, layout, pricing, model_, place)) ranking.push_back(row.candidate);
    if (const auto* const users = users_way(ranking, place)) point.standard_s = users->cost.seconds;
    const auto library = std::ranges::find(ranking, "mpi", [](const Candidate& c) { return to_string(c.strategy); });
    if (library != ranking.end()) point.mpi_s = library->cost.seconds;
    for (const auto& candidate : ranking) {
      auto& best_s =
          point.by_route.try_emplace(route_and_path(candidate.strategy), candidate.cost.seconds).first->second;
      best_s = std::min(best_s, candidate.cost.seconds);
    }
  }

  /// A name that no value makes a strategy of is wrong in something else.
  /// @throws InputError with the error at the first point
  void require_a_value(const std::vector<Setting>& settings, std::size_t name) const {
    std::exception_ptr first_error;
    for (const auto& setting : settings) try {
        strategy_of(setting.names[name], setting.arguments);
        return;
      } catch (const InputError&) {
        if (!first_error) first_error = std::current_exception();
      }
    std::rethrow_exception(first_error);
  }

  static Strategy strategy_of(const std::string& name, const PredictArguments& arguments) {
    const auto cartesian = arguments.pattern.cartesian();
    auto strategy = parse_strategy(cartesian ? on_grid(name, cartesian->neighborhood) : name);
    require_place(strategy, arguments.selection.place());
    return strategy;
  }

  /// The strategies of the names; nothing where a swept value is none for one of them.
  static std::vector<std::optional<Strategy>> parse(const Setting& setting) {
    std::vector<std::optional<Strategy>> result;
    for (const auto& name : setting.names) try {
        result.emplace_back(strategy_of(name, setting.arguments));
      } catch (const InputError&) {
        result.emplace_back();
      }
    return result;
  }

  const std::string where_ = "--sweep";
  const PredictArguments& arguments_;
  const std::vector<SweepRange>& ranges_;
  Environment environment_;
  Profile profile_;  // without stand-ins, which follow from the parameters of a point
  Machine machine_;
  std::vector<std::string> parameters_;  // with which machine_ differs from profile_
  CostModel model_;
  std::vector<std::string> named_;
  std::string evaluation_;
  bool warned_of_uneven_ = false;                                               // once for all points
  std::tuple<std::string, int, std::optional<Bytes>, bool, DataPlace> priced_;  // what pricing_ is of
  std::optional<Pricing> pricing_;
};

}  // namespace

SweepReport run_sweep(const PredictArguments& arguments, const std::vector<SweepRange>& ranges) {
  return Sweep(arguments, ranges).run();
}

}  // namespace commpass
