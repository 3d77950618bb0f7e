#include "calibrate/fit/verdict.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/text.hpp"
#include "model/machine/miss.hpp"
#include "model/median.hpp"

namespace commpass {

namespace {

/// The factor by which a prediction is off, less 1, to either side alike.
double miss_of(const HeldOut& each) { return miss_between(each.predicted_s, each.measured_s); }

/// Half the interval of the measured time, as part of it.
double spread_of(const HeldOut& each) {
  return (each.measured_interval_s.high - each.measured_interval_s.low) / 2 / each.measured_s;
}

/// How many times as long it takes as predicted.
double slowdown_of(const HeldOut& each) { return each.measured_s / each.predicted_s; }

/// By what the errors of two strategies for the same exchange differ, the median: a factor less 1. Nothing where
/// only one was run for each.
std::optional<double> miss_between_strategies(const std::vector<HeldOut>& all) {
  std::vector<double> misses;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (all[i].exchange == all[k].exchange) misses.push_back(miss_between(slowdown_of(all[i]), slowdown_of(all[k])));
  if (misses.empty()) return {};
  return median(std::move(misses));
}

/// How many times as long messages between all nodes take as those between two would have it: what the network's core
/// does not move and the profile does not say. 1 where that was not tried.
double slowdown_by_core(const std::vector<HeldOut>& all) {
  double slowdown = 1;
  for (const auto& part : all) {
    if (part.part_of.empty()) continue;
    const auto whole = std::ranges::find(all, part.part_of, &HeldOut::exchange);
    if (whole != all.end()) slowdown = std::max(slowdown, slowdown_of(*whole) / slowdown_of(part));
  }
  return slowdown;
}

}  // namespace

double middle_miss(const std::vector<HeldOut>& all) {
  std::vector<double> misses;
  std::ranges::transform(all, std::back_inserter(misses), miss_of);
  return median(std::move(misses));
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
  std::vector<double> spreads;
  std::ranges::transform(all, std::back_inserter(spreads), spread_of);
  const auto worst = std::ranges::max_element(all, {}, miss_of);
  const double miss = middle_miss(all), spread = median(std::move(spreads));
  // Between all nodes are slow ones, too.
  const double core = provenance.slow_nodes.empty() ? slowdown_by_core(all) : 1;
  constexpr double sharp = 0.15, far_off = 0.5, blurred = 0.5, seen = 1.15;
  Verdict verdict;
  verdict.why = fmt::format(
      "predictions of {} exchanges not used for fitting are off by {} (median), {} at most ('{}'); their times are "
      "known to {}",
      all.size(), format_share(miss), format_share(miss_of(*worst)), worst->exchange, format_share(spread));
  for (const auto& [node, times_as_long, host] : provenance.slow_nodes)
    verdict.why += fmt::format("; node {} takes {:.1f} times as long as the others", node, times_as_long);
  if (core > seen)
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
        "sent "
        "again after a timer: no more than {} are in flight now",
        late->messages, late->late, late->of, format_seconds(late->late_s), std::max(1, late->most_in_time));
  const bool is_alone = provenance.others < busy_with_others;
  if (!is_alone)
    verdict.why += fmt::format("; other programs kept {:.1f} processors of a node busy meanwhile", provenance.others);
  const bool is_good = is_alone && provenance.slow_nodes.empty() && slow_parts == 0 && core <= seen &&
                       miss <= most_miss_if_good && miss_of(*worst) <= far_off && spread <= sharp;
  verdict.trust = is_good ? Trust::good : miss > most_miss_if_usable || spread > blurred ? Trust::none : Trust::usable;
  // A few exchanges have several strategies, all have a miss: what most are off by is the most that may count.
  const double apart = std::min(miss, miss_between_strategies(all).value_or(miss));
  verdict.uncertainty = is_good ? spread : std::max(spread, apart);
  if (!provenance.slow_nodes.empty()) verdict.remedy = "look at that node, or calibrate and run without it";
  else if (core > seen)
    verdict.remedy =
        "calibrate with a layout that tells which nodes share a switch (--layout), or let programs measure "
        "(COMMPASS_PLANNER=measure) where many nodes send at once";
  else if (!is_alone) verdict.remedy = "stop them, or ask the scheduler for nodes of your own, and calibrate again";
  else if (!is_good) verdict.remedy = again;
  return verdict;
}

}  // namespace commpass
