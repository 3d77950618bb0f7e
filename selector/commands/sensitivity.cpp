// commpass predict --sensitivity: the same prediction with one parameter of the profile changed at a time.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/machine/named_parameters.hpp"
#include "model/machine/stand_ins.hpp"
#include "selector/commands/prediction.hpp"

namespace commpass {

namespace {

/// A parameter of all protocols of a channel, or of all copies in one direction.
struct ParameterGroup {
  std::string pattern;  ///< as short as --set takes it
  double least, most;
};

/// Those that the profile has and that are times or rates.
std::vector<ParameterGroup> groups_of(Machine machine) {
  std::vector<ParameterGroup> groups;
  for (const auto& each : named_parameters(machine)) {
    if (is_absent(each.get()) || each.parameter->is_integer()) continue;
    auto parts = split(each.name, '.');
    using Place = MachineParameter::Place;
    if (each.parameter->place == Place::protocol || each.parameter->place == Place::copy) parts.erase(parts.end() - 2);
    if (parts.front() == "levels") parts.erase(parts.begin());
    const auto pattern = join(parts, ".");
    const double value = to_double(each.get());
    const auto group = std::ranges::find(groups, pattern, &ParameterGroup::pattern);
    if (group == groups.end()) {
      groups.push_back({pattern, value, value});
    } else {
      group->least = std::min(group->least, value);
      group->most = std::max(group->most, value);
    }
  }
  return groups;
}

class SensitivityAnalysis {
 public:
  explicit SensitivityAnalysis(const PredictArguments& arguments)
      : arguments_(arguments),
        prediction_(make_prediction(arguments)),
        profile_(arguments.selection.read_set_profile(read_environment())),
        machine_(with_stand_ins(profile_.machine)),
        pricing_(pricing_of(arguments, machine_, arguments.selection.cost_model())) {
    for (const auto* row : shown_rows(prediction_.report))
      if (row->is_priced) contenders_.push_back(row->candidate.strategy);
    chosen_ = prediction_.report.rows.front().candidate.strategy;
  }

  Predicted<SensitivityReport> run() && {
    SensitivityReport report;
    report.context = prediction_.report.context;
    report.chosen = to_string(chosen_);
    report.contenders = contenders_.size();
    const auto groups = groups_of(profile_.machine);
    own_ = rank();
    report.predicted_s = price_of(own_, chosen_);
    for (const auto& group : groups)
      if (auto row = find_sensitivity(group)) report.parameters.push_back(std::move(*row));
      else ++report.without_effect;
    std::ranges::stable_sort(report.parameters, std::ranges::greater(), [](const Sensitivity& row) {
      return std::max(std::abs(std::log(row.doubled)), std::abs(std::log(row.halved)));
    });
    return {std::move(prediction_.profile), prediction_.layout, std::move(report), {}};
  }

 private:
  using Ranking = std::vector<Candidate>;

  Ranking rank() const { return pricing_.rank(prediction_.layout, contenders_); }

  Seconds price_of(const Ranking& ranking, const Strategy& strategy) const {
    const auto found = std::ranges::find(ranking, strategy, &Candidate::strategy);
    return ranked_seconds(*found, arguments_.selection.calls);
  }

  /// Nothing where no profile may have such a value.
  std::optional<Ranking> rank_with(const ParameterGroup& group, double factor) {
    auto profile = profile_;
    try {
      set_parameters(profile, {group.pattern + "*" + csv_number(factor)});
    } catch (const InputError&) {
      return std::nullopt;
    }
    machine_ = with_stand_ins(std::move(profile.machine));
    return rank();
  }

  bool has_effect(const Ranking& ranking) const {
    constexpr double rounding = 1e-9;
    return std::ranges::any_of(contenders_, [&](const Strategy& strategy) {
      const auto own = price_of(own_, strategy);
      return std::abs(price_of(ranking, strategy) - own) > rounding * own;
    });
  }

  bool is_another_choice(const Ranking& ranking) const {
    return route_and_path(ranking.front().strategy) != route_and_path(chosen_);
  }

  /// The nearest factor with another choice, as far as doubling (or halving) finds one, by bisection.
  /// @param first  the ranking after one step
  ChangedChoice find_change(const ParameterGroup& group, double step, const std::optional<Ranking>& first) {
    constexpr int steps = 4, bisections = 5;  // 2^(1/32): two per cent
    static_assert(1 << steps == static_cast<int>(sensitivity_factor_max));
    double same = 1;
    for (int i = 0; i < steps; ++i, same *= step) {
      auto ranking = i == 0 ? first : rank_with(group, same * step);
      if (!ranking) return {};
      if (!is_another_choice(*ranking)) continue;
      ChangedChoice change{same * step, ranking->front().strategy};
      for (int b = 0; b < bisections; ++b) {
        const double central = std::sqrt(same * change.factor);
        ranking = rank_with(group, central);
        if (ranking && is_another_choice(*ranking)) change = {central, ranking->front().strategy};
        else same = central;
      }
      return change;
    }
    return {};
  }

  std::optional<Sensitivity> find_sensitivity(const ParameterGroup& group) {
    const auto doubled = rank_with(group, 2), halved = rank_with(group, 0.5);
    if (!(doubled && has_effect(*doubled)) && !(halved && has_effect(*halved))) return std::nullopt;
    const auto ratio = [&](const std::optional<Ranking>& ranking) {
      return ranking ? price_of(*ranking, chosen_) / price_of(own_, chosen_) : 1.0;
    };
    return Sensitivity{group.pattern,
                       group.least,
                       group.most,
                       ratio(doubled),
                       ratio(halved),
                       find_change(group, 2, doubled),
                       find_change(group, 0.5, halved)};
  }

  const PredictArguments& arguments_;
  Predicted<Report> prediction_;
  Profile profile_;  // without stand-ins
  Machine machine_;  // the one that prices refer to
  Pricing pricing_;
  std::vector<Strategy> contenders_;
  Strategy chosen_;
  Ranking own_;
};

}  // namespace

Predicted<SensitivityReport> find_sensitivity(const PredictArguments& arguments) {
  return SensitivityAnalysis(arguments).run();
}

}  // namespace commpass
