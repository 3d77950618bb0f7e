#include "bench/judgement.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "bench/nearest_measured.hpp"
#include "bench/summary.hpp"
#include "calibrate/fit/counterparts.hpp"
#include "calibrate/fit/measured_prices.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/median.hpp"
#include "selector/choose/parallel.hpp"

namespace commpass::bench {
namespace {

using Algorithms = std::vector<MeasuredAlgorithm>;
using Key = std::pair<MeasuredCase, MeasuredAlgorithm>;

/// The value below which a fraction of them lies: of n values that of number ⌊fraction · n⌋.
double upper_quantile(std::vector<double> values, double fraction) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<std::size_t>(fraction * static_cast<double>(values.size())))];
}

constexpr double tie_ratio = 1.000001;  ///< prices and times that differ by less are equal

class Judge {
 public:
  Judge(const std::vector<MeasuredTime>& times, const std::map<std::string, JudgedMachine>& machines)
      : machines_(machines), stalled_(stalled_times(times)) {
    for (const auto& time : times) {
      measured_[time.of].push_back(time.algorithm);
      times_.emplace(Key{time.of, time.algorithm}, time);
    }
  }

  Judgement run(const std::string& origin) {
    price();
    if (prices_.empty())
      throw InputError(origin, "no measured algorithm has a price (" + result_.not_priced.begin()->first + ")",
                       "use algorithms of docs/validation.md, or another profile");
    result_.cases = static_cast<int>(measured_.size());
    result_.measured = static_cast<int>(times_.size());
    judge_prices();
    judge_choices();
    for (const auto& [of, algorithms] : measured_) add_row(of);
    return std::move(result_);
  }

 private:
  const MeasuredTime& time_of(const MeasuredCase& of, const MeasuredAlgorithm& algorithm) const {
    return times_.at({of, algorithm});
  }

  /// Cases in one layout with data in one kind of memory are priced together.
  void price() {
    std::vector<MeasuredTime> known;
    for (const auto& [key, time] : times_) {
      const bool has_profile = machines_.contains(time.of.machine);
      if (has_profile) known.push_back(time);
      if (counterpart(time.algorithm, time.of).empty())
        ++result_.not_priced[time.algorithm.name + ": no strategy does the same"];
      else if (!has_profile) ++result_.not_priced["no profile of " + time.of.machine];
    }
    const auto asked = questions_of(known, true);
    std::vector<PriceAnswer> answers(asked.size());
    in_parallel(
        asked.size(),
        [&](std::size_t i) {
          const auto& [machine, sockets] = machines_.at(asked[i].cases.front().machine);
          answers[i] = price_measured(asked[i], machine, sockets);
        },
        [&](std::size_t i) { take(asked[i], answers[i]); });
  }

  void take(const PriceQuestion& question, const PriceAnswer& answer) {
    for (const auto& [reason, count] : answer.not_priced) result_.not_priced[reason] += count;
    for (const auto& [of, prices] : answer.cases) {
      for (const auto& algorithm : measured_.at(of)) {
        const auto text = counterpart(algorithm, of);
        if (is_on_path(text) != question.is_on_devices) continue;
        if (const auto found = prices.seconds.find(text); found != prices.seconds.end())
          prices_[{of, algorithm}] = found->second;
      }
      if (prices.library_s && !question.is_on_devices) library_prices_[of] = *prices.library_s;
      if (prices.chosen && (question.is_on_devices || !chosen_.contains(of))) chosen_[of] = *prices.chosen;
    }
  }

  void judge_prices() {
    std::vector<double> ratios, factors, library;
    for (const auto& [key, price] : prices_) {
      if (stalled_.contains(key)) ++result_.stalled;
      else ratios.push_back(price / times_.at(key).fastest_s);
    }
    for (const double ratio : ratios) factors.push_back(factor_of(ratio));
    result_.priced = static_cast<int>(prices_.size());
    result_.median_factor = median(factors);
    result_.p90_factor = upper_quantile(factors, 0.9);
    result_.bias = geometric_mean(ratios);
    result_.within_2 = static_cast<double>(std::ranges::count_if(factors, [](double f) { return f <= 2; })) /
                       static_cast<double>(factors.size());
    for (const auto& [of, price] : library_prices_)
      for (const auto& algorithm : measured_.at(of))
        if (is_library_alltoall(algorithm)) library.push_back(factor_of(price / time_of(of, algorithm).fastest_s));
    if (!library.empty()) result_.library_factor = median(library);
  }

  /// Those of a case that have a price.
  Algorithms priced_of(const MeasuredCase& of) const {
    auto algorithms = measured_.at(of);
    std::erase_if(algorithms, [&](const auto& algorithm) { return !prices_.contains({of, algorithm}); });
    return algorithms;
  }

  std::vector<MeasuredCase> with_algorithms(std::size_t least) const {
    std::vector<MeasuredCase> result;
    for (const auto& [of, algorithms] : measured_)
      if (priced_of(of).size() >= least) result.push_back(of);
    return result;
  }

  void judge_choices() {
    constexpr std::size_t algorithms_min = 4, algorithms_least = 2;
    judged_ = with_algorithms(algorithms_min);
    if (judged_.empty()) judged_ = with_algorithms(algorithms_least);
    if (judged_.empty()) return;
    for (const auto& of : judged_) {
      const auto fastest = [&](const auto& algorithm) { return time_of(of, algorithm).median_s; };
      best_[of] = *std::ranges::min_element(pools_[of] = priced_of(of), {}, fastest);
    }
    result_.choice = regret_of(cheapest(0));
    const bool has_messages_in_flight =
        std::ranges::all_of(judged_, [](const auto& of) { return of.pattern.starts_with("alltoall"); });
    if (has_messages_in_flight) result_.limited_choice = regret_of(cheapest(default_messages_off_node));
    result_.tried_choice = regret_of(fastest_tried(has_messages_in_flight ? default_messages_off_node : 0));
    judge_order();
    judge_free_choice();
    judge_rules();
  }

  static Algorithms within_limit(Algorithms algorithms, const MeasuredCase& of, int limit) {
    std::erase_if(algorithms, [&](const auto& a) { return limit > 0 && messages_in_flight(a, of) > limit; });
    return algorithms;
  }

  Algorithms limited(const MeasuredCase& of, int limit) const { return within_limit(pools_.at(of), of, limit); }

  /// The algorithms with the least price of each case.
  std::map<MeasuredCase, Algorithms> cheapest(int limit) const {
    std::map<MeasuredCase, Algorithms> result;
    for (const auto& of : judged_) {
      auto algorithms = limited(of, limit);
      if (algorithms.empty()) continue;
      const auto price = [&](const auto& algorithm) { return prices_.at({of, algorithm}); };
      const auto least = price(*std::ranges::min_element(algorithms, {}, price));
      std::erase_if(algorithms, [&](const auto& algorithm) { return price(algorithm) > tie_ratio * least; });
      result.emplace(of, std::move(algorithms));
    }
    return result;
  }

  /// The fastest of the algorithms with the least prices of each case.
  std::map<MeasuredCase, Algorithms> fastest_tried(int limit) const {
    std::map<MeasuredCase, Algorithms> result;
    for (const auto& of : judged_) {
      auto algorithms = limited(of, limit);
      if (algorithms.empty()) continue;
      std::ranges::stable_sort(algorithms, {}, [&](const auto& algorithm) { return prices_.at({of, algorithm}); });
      algorithms.resize(std::min(algorithms.size(), tried_algorithms));
      const auto seconds = [&](const auto& algorithm) { return time_of(of, algorithm).median_s; };
      result[of] = {*std::ranges::min_element(algorithms, {}, seconds)};
    }
    return result;
  }

  std::optional<Regret> regret_of(const std::map<MeasuredCase, Algorithms>& choices) const {
    if (choices.empty()) return std::nullopt;
    Regret regret;
    regret.cases = static_cast<int>(choices.size());
    regret.worst = 0;
    std::vector<double> regrets;
    for (const auto& [of, algorithms] : choices) {
      std::vector<double> ratios;
      double stalled = 0, stalled_runs = 0;
      for (const auto& algorithm : algorithms) {
        const auto& time = time_of(of, algorithm);
        ratios.push_back(time.median_s / time_of(of, best_.at(of)).median_s);
        stalled += stalled_.contains({of, algorithm});
        stalled_runs += time.stalled_share;
      }
      regrets.push_back(geometric_mean(ratios));
      regret.fastest_chosen += regrets.back() < tie_ratio;
      regret.ties += algorithms.size() > 1;
      regret.stalled_choices += stalled / static_cast<double>(algorithms.size() * choices.size());
      regret.stalled_runs += stalled_runs / static_cast<double>(algorithms.size() * choices.size());
      if (regrets.back() > regret.worst) {
        regret.worst = regrets.back();
        regret.worst_case = of;
      }
    }
    regret.gmean = geometric_mean(regrets);
    regret.p95 = upper_quantile(regrets, 0.95);
    return regret;
  }

  void judge_order() {
    std::vector<double> correlations;
    for (const auto& of : judged_) {
      std::vector<double> prices, medians;
      for (const auto& algorithm : limited(of, default_messages_off_node)) {
        prices.push_back(prices_.at({of, algorithm}));
        medians.push_back(time_of(of, algorithm).median_s);
      }
      if (prices.size() <= 2) continue;
      if (const auto correlation = rank_correlation(prices, medians)) correlations.push_back(*correlation);
    }
    if (!correlations.empty()) result_.rank_correlation = median(correlations);
  }

  void judge_free_choice() {
    std::map<MeasuredCase, Algorithms> choices;
    for (const auto& of : judged_) {
      const auto chosen = chosen_.find(of);
      if (chosen == chosen_.end()) continue;
      // The choice keeps the limit of messages in flight, and ties only with strategies that keep it.
      const bool has_messages_in_flight = of.pattern.starts_with("alltoall");
      const auto alike = within_limit(measured_.at(of), of, has_messages_in_flight ? default_messages_off_node : 0);
      const auto nearest = nearest_measured(chosen->second, of, alike);
      if (!nearest.algorithm) {
        ++result_.not_measured[nearest.why_none];
        continue;
      }
      choices[of] = {*nearest.algorithm};
      result_.same_as_chosen += nearest.is_same;
    }
    result_.free_choice = regret_of(choices);
  }

  /// One algorithm for all cases, of those that were measured for nearly all.
  void judge_rules() {
    constexpr double measured_share_min = 0.97;
    std::set<MeasuredAlgorithm> all;
    for (const auto& of : judged_) all.insert(measured_.at(of).begin(), measured_.at(of).end());
    for (const auto& algorithm : all) {
      std::map<MeasuredCase, Algorithms> choices;
      for (const auto& of : judged_)
        if (times_.contains({of, algorithm})) choices[of] = {algorithm};
      if (static_cast<double>(choices.size()) >= measured_share_min * static_cast<double>(judged_.size()))
        result_.rules.emplace_back(algorithm.text(), *regret_of(choices));
    }
    std::ranges::stable_sort(result_.rules, {}, [](const auto& rule) { return rule.second.gmean; });
  }

  void add_row(const MeasuredCase& of) {
    JudgedCase row{of, {}, {}};
    for (const auto& algorithm : priced_of(of)) {
      const auto& time = time_of(of, algorithm);
      row.times.push_back({algorithm, counterpart(algorithm, of), prices_.at({of, algorithm}), time.fastest_s,
                           time.median_s, stalled_.contains({of, algorithm})});
    }
    std::ranges::stable_sort(row.times, {}, &PricedTime::predicted_s);
    if (const auto found = chosen_.find(of); found != chosen_.end()) row.free_choice = found->second;
    result_.rows.push_back(std::move(row));
  }

  const std::map<std::string, JudgedMachine>& machines_;
  std::map<MeasuredCase, Algorithms> measured_;  ///< in the order of the table
  std::map<Key, MeasuredTime> times_;
  std::set<Key> stalled_;
  std::map<Key, Seconds> prices_;
  std::map<MeasuredCase, Seconds> library_prices_;
  std::map<MeasuredCase, std::string> chosen_;
  std::vector<MeasuredCase> judged_;  ///< with enough algorithms to choose among
  std::map<MeasuredCase, Algorithms> pools_;
  std::map<MeasuredCase, MeasuredAlgorithm> best_;
  Judgement result_;
};

Json to_json(const Regret& regret) {
  const auto& of = regret.worst_case;
  return {{"cases", regret.cases},
          {"gmean", regret.gmean},
          {"p95", regret.p95},
          {"worst", regret.worst},
          {"worst_nodes", of.nodes},
          {"worst_ppn", of.ppn},
          {"worst_pattern", of.pattern},
          {"worst_bytes", of.bytes},
          {"stalled_choices_share", regret.stalled_choices},
          {"stalled_runs_share", regret.stalled_runs},
          {"ties", regret.ties},
          {"fastest_chosen", regret.fastest_chosen}};
}

Json counts_of(const std::map<std::string, int>& counts) {
  auto json = Json::object();
  for (const auto& [what, count] : counts) json[what] = count;
  return json;
}

}  // namespace

Judgement judge(const std::vector<MeasuredTime>& times, const std::map<std::string, JudgedMachine>& machines,
                const std::string& origin) {
  return Judge(times, machines).run(origin);
}

std::vector<GroupError> errors_by(const Judgement& judgement, ErrorGroup group) {
  std::map<std::pair<Bytes, std::string>, std::vector<double>> ratios;
  for (const auto& row : judgement.rows)
    for (const auto& time : row.times) {
      if (time.is_stalled) continue;
      auto key = std::pair<Bytes, std::string>{0, time.algorithm.name};
      if (group == ErrorGroup::nodes) key = {row.of.nodes, fmt::format("{} nodes", row.of.nodes)};
      if (group == ErrorGroup::bytes) key = {row.of.bytes, format_bytes(static_cast<double>(row.of.bytes))};
      ratios[key].push_back(time.predicted_s / time.fastest_s);
    }
  std::vector<GroupError> errors;
  for (const auto& [key, own] : ratios) {
    std::vector<double> factors;
    for (const double ratio : own) factors.push_back(factor_of(ratio));
    errors.push_back({key.second, static_cast<int>(own.size()), median(factors), geometric_mean(own)});
  }
  return errors;
}

Json to_json(const Judgement& judgement, bool has_rows) {
  Json json{
      {"cases", judgement.cases},     {"measured", judgement.measured},           {"priced", judgement.priced},
      {"stalled", judgement.stalled}, {"median_factor", judgement.median_factor}, {"p90_factor", judgement.p90_factor},
      {"bias", judgement.bias},       {"within_2_share", judgement.within_2}};
  if (judgement.rank_correlation) json["rank_correlation"] = *judgement.rank_correlation;
  if (judgement.library_factor) json["library_median_factor"] = *judgement.library_factor;
  if (judgement.choice) json["regret"]["cheapest"] = to_json(*judgement.choice);
  if (judgement.limited_choice) json["regret"]["cheapest_of_64_in_flight"] = to_json(*judgement.limited_choice);
  if (judgement.tried_choice) json["regret"]["fastest_of_3_tried"] = to_json(*judgement.tried_choice);
  if (judgement.free_choice) {
    json["regret"]["predict"] = to_json(*judgement.free_choice);
    json["regret"]["predict"]["same_strategy"] = judgement.same_as_chosen;
  }
  if (!judgement.not_measured.empty()) json["chosen_but_not_measured"] = counts_of(judgement.not_measured);
  for (const auto& [rule, regret] : judgement.rules) json["rules"][rule] = to_json(regret);
  json["not_priced"] = counts_of(judgement.not_priced);
  if (!has_rows) return json;
  for (const auto& row : judgement.rows) {
    Json one{{"nodes", row.of.nodes},
             {"ppn", row.of.ppn},
             {"pattern", row.of.pattern},
             {"bytes_per_pair", row.of.bytes},
             {"times", Json::array()}};
    if (row.free_choice) one["predict"] = *row.free_choice;
    for (const auto& time : row.times)
      one["times"].push_back({{"algorithm", time.algorithm.text()},
                              {"strategy", time.strategy},
                              {"predicted_s", time.predicted_s},
                              {"fastest_s", time.fastest_s},
                              {"median_s", time.median_s},
                              {"stalled", time.is_stalled}});
    json["rows"].push_back(std::move(one));
  }
  return json;
}

}  // namespace commpass::bench
