#include "calibrate/fit/exchange_fit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "calibrate/fit/constrained.hpp"
#include "calibrate/fit/corrections.hpp"
#include "calibrate/fit/counterparts.hpp"
#include "calibrate/fit/measured_prices.hpp"
#include "model/base/error.hpp"
#include "model/base/format.hpp"
#include "model/machine/stand_ins.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

using Values = std::vector<double>;

/// Of logarithms of predicted ÷ measured: the error of the model, and the limit of Huber weights.
constexpr double model_deviation = 0.3, outlier_deviation = 0.4;

constexpr std::size_t times_max = 80, folds_max = 2;
constexpr double correction_min = 0.05;
constexpr double other_unit_factor = 100;  ///< larger than the error of any profile

std::vector<MeasuredTime> evenly_spread(const std::vector<MeasuredTime>& times) {
  if (times.size() <= times_max) return times;
  std::vector<MeasuredTime> result;
  for (std::size_t i = 0; i < times_max; ++i) result.push_back(times[i * times.size() / times_max]);
  return result;
}

/// @param errors  of the given machine
void check_unit(const Values& errors, const std::string& origin) {
  const double ratio = std::exp(-median(errors));
  if (ratio < other_unit_factor && ratio > 1 / other_unit_factor) return;
  throw InputError(origin,
                   ratio > 1 ? fmt::format("its exchanges take {:.0f} times as long as predicted", ratio)
                             : fmt::format("its exchanges are {:.0f} times as fast as predicted", 1 / ratio),
                   "give seconds of one exchange, and bytes_per_pair in bytes");
}

double median_factor(const Values& errors) {
  Values sizes;
  std::ranges::transform(errors, std::back_inserter(sizes), [](double error) { return std::abs(error); });
  return std::exp(median(std::move(sizes)));
}

class Fit {
 public:
  Fit(const Machine& machine, const std::vector<Correction>& corrections, int sockets)
      : machine_(machine), corrections_(corrections), sockets_(sockets) {}

  Machine corrected(const Values& values) const {
    auto machine = machine_;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] != 0) corrections_[i].apply(machine, values[i]);
    return machine;
  }

  /// Logarithms of predicted ÷ measured.
  Values errors(const std::vector<MeasuredTime>& times, const Values& values) const {
    const auto predicted = predicted_seconds(times, corrected(values), sockets_);
    Values result;
    for (std::size_t i = 0; i < times.size(); ++i)
      result.push_back(predicted[i] ? std::log(*predicted[i] / times[i].fastest_s) : 0);
    return result;
  }

  /// By Levenberg and Marquardt.
  Values fit(const std::vector<MeasuredTime>& times) const {
    constexpr int rounds_max = 10, damping_tries = 5;
    constexpr double damping_factor = 5, improvement_min = 1e-2;
    double damping = 0.1;
    Values best(corrections_.size(), 0);
    auto errors_of_best = errors(times, best);
    double least = loss(errors_of_best, best);
    for (int round = 0; round < rounds_max; ++round) {
      const auto slopes = derivatives(times, best, errors_of_best);
      const double before = least;
      for (int i = 0; i < damping_tries && least == before; ++i) {
        const auto values = step(best, errors_of_best, slopes, damping);
        auto found = errors(times, values);
        if (const double sum = loss(found, values); sum < least) {
          best = values;
          errors_of_best = std::move(found);
          least = sum;
          damping /= damping_factor;
        } else {
          damping *= damping_factor;
        }
      }
      if (before - least <= improvement_min * before) break;
    }
    for (auto& value : best)
      if (std::abs(value) < correction_min) value = 0;
    return best;
  }

 private:
  double loss(const Values& errors, const Values& values) const {
    double sum = 0;
    for (const double error : errors) {
      const double size = std::abs(error);
      sum += (size < outlier_deviation ? size * size : outlier_deviation * (2 * size - outlier_deviation)) /
             (model_deviation * model_deviation);
    }
    for (std::size_t i = 0; i < values.size(); ++i) sum += std::pow(values[i] / corrections_[i].deviation, 2);
    return sum;
  }

  /// Derivatives of the errors, by correction.
  std::vector<Values> derivatives(const std::vector<MeasuredTime>& times, const Values& at,
                                  const Values& errors_at) const {
    std::vector<Values> result;
    for (std::size_t i = 0; i < corrections_.size(); ++i) {
      const auto& [name, deviation, least, most, usual_step, apply, kind] = corrections_[i];
      const double step = at[i] + usual_step > most || at[i] + usual_step < least ? -usual_step : usual_step;
      auto values = at;
      values[i] += step;
      auto slopes = errors(times, values);
      for (std::size_t j = 0; j < slopes.size(); ++j) slopes[j] = (slopes[j] - errors_at[j]) / step;
      result.push_back(std::move(slopes));
    }
    return result;
  }

  Values step(const Values& from, const Values& errors, const std::vector<Values>& slopes, double damping) const {
    const auto n = corrections_.size();
    std::vector<Relation> wanted, bounds;
    Values squares(n, 0);
    for (std::size_t j = 0; j < errors.size(); ++j) {
      const double size = std::abs(errors[j]);
      const double weight = std::sqrt(size < outlier_deviation ? 1 : outlier_deviation / size) / model_deviation;
      Relation row{Values(n), -weight * errors[j]};
      for (std::size_t i = 0; i < n; ++i) {
        row.coefficients[i] = weight * slopes[i][j];
        squares[i] += row.coefficients[i] * row.coefficients[i];
      }
      wanted.push_back(std::move(row));
    }
    const auto alone = [n](std::size_t i, double coefficient, double value) {
      Relation row{Values(n, 0), value};
      row.coefficients[i] = coefficient;
      return row;
    };
    for (std::size_t i = 0; i < n; ++i) {
      const auto& correction = corrections_[i];
      wanted.push_back(alone(i, 1 / correction.deviation, -from[i] / correction.deviation));
      wanted.push_back(alone(i, std::sqrt(damping * (squares[i] + 1)), 0));
      bounds.push_back(alone(i, 1, correction.least - from[i]));
      bounds.push_back(alone(i, -1, from[i] - correction.most));
    }
    auto values = solve_within_bounds(wanted, bounds);
    for (std::size_t i = 0; i < n; ++i)
      values[i] = std::clamp(from[i] + values[i], corrections_[i].least, corrections_[i].most);
    return values;
  }

  const Machine& machine_;
  const std::vector<Correction>& corrections_;
  int sockets_;
};

std::vector<std::optional<Seconds>> seconds_or_refuse(std::span<const MeasuredTime> times, const Machine& machine,
                                                      int sockets, const std::string& origin) {
  try {
    return predicted_seconds(times, machine, sockets);
  } catch (const InputError& error) {  // of a pattern, which lacks its file
    throw Error(fmt::format("{}: {}", origin, error.what()));
  }
}

}  // namespace

ExchangeFit fit_exchanges(const Machine& given, std::span<const MeasuredTime> all, int sockets,
                          const std::string& origin) {
  const auto machine = with_stand_ins(given);
  const auto stalled = stalled_times(all);
  const auto is_priced = seconds_or_refuse(all, machine, sockets, origin);
  std::set<std::string> left_out;
  for (const auto& time : all)
    if (counterpart(time.algorithm, time.of).empty()) left_out.insert(time.algorithm.name);
  std::vector<MeasuredTime> priced;
  int ranks_of_node = 1;
  bool has_device = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_priced[i] || stalled.contains({all[i].of, all[i].algorithm})) continue;
    priced.push_back(all[i]);
    ranks_of_node = std::max(ranks_of_node, all[i].of.ppn);
    has_device = has_device || is_on_path(counterpart(all[i].algorithm, all[i].of));
  }
  if (priced.empty())
    throw InputError(
        origin,
        "no time of it has a price" +
            (left_out.empty() ? std::string() : fmt::format(": no strategy does {}", join(left_out, ", "))),
        "give times of algorithms of docs/validation.md, or of strategies, in memory that the benchmarks sent from");
  const auto times = evenly_spread(priced);

  ExchangeFit result{given};
  result.left_out.assign(left_out.begin(), left_out.end());
  std::map<MeasuredCase, std::size_t> number_of_case;
  for (const auto& time : times) number_of_case.try_emplace(time.of, number_of_case.size());
  result.cases = static_cast<int>(number_of_case.size());
  result.times = static_cast<int>(times.size());
  std::set<int> nodes;
  for (const auto& [of, number] : number_of_case) nodes.insert(of.nodes);
  result.nodes.assign(nodes.begin(), nodes.end());

  const auto corrections = corrections_of(machine, ranks_of_node, has_device);
  const Fit fit(machine, corrections, sockets);
  const Values uncorrected(corrections.size(), 0);
  const auto errors_before = fit.errors(times, uncorrected);
  check_unit(errors_before, origin);
  result.before = median_factor(errors_before);
  const auto values = fit.fit(times);
  const auto folds = std::min(folds_max, number_of_case.size());
  result.is_held_out = folds > 1;
  Values errors;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<MeasuredTime> known, held_out;
    for (const auto& time : times) (number_of_case.at(time.of) % folds == fold ? held_out : known).push_back(time);
    for (const double error : fit.errors(held_out, folds > 1 ? fit.fit(known) : values)) errors.push_back(error);
  }
  result.after = median_factor(errors);
  if (!result.is_better()) return result;
  result.machine = fit.corrected(values);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) result.corrected.push_back(corrections[i].name + ": " + describe(corrections[i], values[i]));
  return result;
}

}  // namespace commpass
