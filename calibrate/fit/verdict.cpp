#include "calibrate/fit/verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/text.hpp"
#include "model/machine/miss.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

/// The median of a number of each exchange.
template <class Number>
double median_of(std::span<const HeldOut> all, Number number) {
  std::vector<double> numbers;
  std::ranges::transform(all, std::back_inserter(numbers), number);
  return median(std::move(numbers));
}

double miss_of(const HeldOut& each) { return miss_between(each.predicted_s, each.measured_s); }

/// Half of the measured interval ÷ the measured time.
double spread_of(const HeldOut& each) {
  return (each.measured_interval_s.high - each.measured_interval_s.low) / 2 / each.measured_s;
}

double slowdown_of(const HeldOut& each) { return each.measured_s / each.predicted_s; }

/// The median difference between the errors of two strategies for the same exchange: a factor less 1. Nothing if each
/// exchange ran by one strategy only.
std::optional<double> miss_between_strategies(const std::vector<HeldOut>& all) {
  std::vector<double> misses;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (all[i].exchange == all[k].exchange) misses.push_back(miss_between(slowdown_of(all[i]), slowdown_of(all[k])));
  if (misses.empty()) return {};
  return median(std::move(misses));
}

/// Slowdown of messages between all nodes ÷ slowdown of messages between two: congestion in the network's core that the
/// profile lacks. 1 if that was not tried.
double slowdown_by_core(const std::vector<HeldOut>& all) {
  double slowdown = 1;
  for (const auto& part : all) {
    if (part.part_of.empty()) continue;
    const auto whole = std::ranges::find(all, part.part_of, &HeldOut::exchange);
    if (whole != all.end()) slowdown = std::max(slowdown, slowdown_of(*whole) / slowdown_of(part));
  }
  return slowdown;
}

/// Neighbouring sizes whose times all miss the fitted lines on the same side.
struct Contradiction {
  std::string level;
  Bytes first = 0, last = 0;
  double factor = 1;  ///< at least, of each
};

/// The worst, of four neighbouring sizes: an outlier has none beside it. Nothing below a factor of 1.5.
std::optional<Contradiction> find_contradiction(const Provenance& provenance) {
  constexpr std::size_t neighbours = 4;
  constexpr double factor_min = 1.5;
  std::map<std::string, std::map<Bytes, double>> logarithms;  // of measured ÷ fitted, by level and size
  for (const auto& message : provenance.messages) {
    const auto fits = [&](const ProtocolFit& fit) {
      return fit.level == message.level && message.bytes <= fit.segment.max_bytes;
    };
    const auto fit = std::ranges::find_if(provenance.fits, fits);
    if (fit == provenance.fits.end()) continue;
    logarithms[message.level][message.bytes] = std::log(message.seconds / fit->segment.line.at(message.bytes));
  }
  std::optional<Contradiction> worst;
  for (const auto& [level, by_size] : logarithms) {
    const std::vector<std::pair<Bytes, double>> sizes(by_size.begin(), by_size.end());
    for (std::size_t i = 0; i + neighbours <= sizes.size(); ++i) {
      const auto run = std::span(sizes).subspan(i, neighbours);
      const auto [low, high] = std::ranges::minmax(run, {}, &std::pair<Bytes, double>::second);
      const double factor = std::exp(std::max(low.second, -high.second));
      if (factor >= (worst ? worst->factor : factor_min))
        worst = Contradiction{level, run.front().first, run.back().first, factor};
    }
  }
  return worst;
}

}  // namespace

double median_miss(const std::vector<HeldOut>& all) { return median_of(all, miss_of); }

Seconds beyond_prices(std::span<const HeldOut> exchanges) {
  constexpr double negligible_ratio = 0.05;
  const auto beyond = [](const HeldOut& each) { return each.measured_s - each.predicted_s; };
  const auto surely_beyond = [](const HeldOut& each) { return each.measured_interval_s.low - each.predicted_s; };
  const Seconds middle = median_of(exchanges, beyond), predicted = median_of(exchanges, &HeldOut::predicted_s);
  return median_of(exchanges, surely_beyond) > 0 && middle > negligible_ratio * predicted ? middle : 0;
}

Verdict judge(const Provenance& provenance) {
  constexpr auto* again = "see 'commpass doctor' and calibrate again when the machine is quiet and ranks are bound";
  const auto& all = provenance.held_out;
  if (all.empty() && !provenance.no_time_for.empty())
    return {Trust::none, 1, "no time was left for exchanges that its fits had not seen",
            "calibrate with a larger --budget when the machine is quiet"};
  if (all.empty())
    return {Trust::none, 1,
            provenance.warning.empty() ? "no exchange was run that was not used for fitting" : provenance.warning,
            provenance.warning.empty() ? again : "calibrate with no more ranks a host than it has cores"};
  const auto worst = std::ranges::max_element(all, {}, miss_of);
  const double miss = median_miss(all), spread = median_of(all, spread_of);
  // A slow node slows messages between all nodes down, too.
  const double core = provenance.slow_nodes.empty() ? slowdown_by_core(all) : 1;
  constexpr double good_spread = 0.15, worst_miss_if_good = 0.5, usable_spread = 0.5, core_slowdown_min = 1.15;
  Verdict verdict;
  verdict.why = fmt::format(
      "predictions of {} exchanges not used for fitting are off by {} (median), {} at most ('{}'); their times are "
      "known to {}",
      all.size(), format_share(miss), format_share(miss_of(*worst)), worst->exchange, format_share(spread));
  for (const auto& [node, times_as_long, host] : provenance.slow_nodes)
    verdict.why += fmt::format("; node {} takes {:.1f} times as long as the others", node, times_as_long);
  const bool is_core_slow = core > core_slowdown_min;
  if (is_core_slow)
    verdict.why += fmt::format(
        "; messages between all nodes take {:.1f} times as long as those between two tell, so the network's core moves "
        "less than the profile says",
        core);
  const auto& [slow_parts, parts, slower] = provenance.slow_phases;
  if (slow_parts > 0)
    verdict.why += fmt::format(
        "; the machine changes its speed: lone messages took up to {:.1f} times as long in {} of {} parts of the "
        "measurement",
        slower, slow_parts, parts);
  if (const auto& late = provenance.late_messages)
    verdict.why += fmt::format(
        "; with {} messages in flight to other nodes {} of {} exchanges took {} longer, as if messages were lost and "
        "sent again after a timer: no more than {} are in flight now",
        late->messages, late->late, late->of, format_seconds(late->late_s), std::max(1, late->most_in_time));
  const auto contradiction = find_contradiction(provenance);
  if (contradiction)
    verdict.why += fmt::format("; messages of {} to {} of the level {} miss the fitted line by a factor of {:.1f}",
                               format_bytes(static_cast<double>(contradiction->first)),
                               format_bytes(static_cast<double>(contradiction->last)), contradiction->level,
                               contradiction->factor);
  const bool is_alone = provenance.others < busy_with_others;
  if (!is_alone)
    verdict.why += fmt::format("; other programs kept {:.1f} processors of a node busy meanwhile", provenance.others);
  const bool is_good = is_alone && provenance.slow_nodes.empty() && slow_parts == 0 && !is_core_slow &&
                       !contradiction && miss <= most_miss_if_good && miss_of(*worst) <= worst_miss_if_good &&
                       spread <= good_spread;
  constexpr double usable_contradiction = 2;
  const bool is_contradicted = contradiction && contradiction->factor > usable_contradiction;
  verdict.trust = is_good                                                                   ? Trust::good
                  : is_contradicted || miss > most_miss_if_usable || spread > usable_spread ? Trust::none
                                                                                            : Trust::usable;
  const double apart = std::min(miss, miss_between_strategies(all).value_or(miss));
  verdict.uncertainty = is_good ? spread : std::max(spread, apart);
  if (!provenance.slow_nodes.empty()) verdict.remedy = "look at that node, or calibrate and run without it";
  else if (is_core_slow)
    verdict.remedy =
        "calibrate with a layout that tells which nodes share a switch (--layout), or let programs measure "
        "(COMMPASS_PLANNER=measure) where many nodes send at once";
  else if (!is_alone) verdict.remedy = "stop them, or ask the scheduler for nodes of your own, and calibrate again";
  else if (!is_good) verdict.remedy = again;
  return verdict;
}

}  // namespace commpass
