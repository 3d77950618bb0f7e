#include "calibrate/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/median.hpp"

namespace commpass {

namespace {

constexpr double percent = 100;

/// The factor by which a prediction is off, less 1, to either side alike.
double miss_of(const HeldOut& each) {
  return std::max(each.predicted_s / each.measured_s, each.measured_s / each.predicted_s) - 1;
}

/// Half the interval of the measured time, as part of it.
double spread_of(const HeldOut& each) {
  return (each.measured_interval_s.high - each.measured_interval_s.low) / 2 / each.measured_s;
}

}  // namespace

Verdict judge(const Provenance& provenance) {
  constexpr auto* again = "see 'commpass doctor' and calibrate again when the machine is quiet and ranks are bound";
  const auto& all = provenance.held_out;
  if (all.empty())
    return {Trust::none, 1,
            provenance.warning.empty() ? "no exchange was run that its fits had not seen" : provenance.warning,
            provenance.warning.empty() ? again : "calibrate with no more ranks a host than it has cores"};
  std::vector<double> misses, spreads;
  for (const auto& each : all) {
    misses.push_back(miss_of(each));
    spreads.push_back(spread_of(each));
  }
  const auto worst = std::ranges::max_element(all, {}, miss_of);
  const double miss = median(misses), spread = median(spreads);
  constexpr double sharp = 0.15, far_off = 0.5, wrong = 0.3, blurred = 0.5;
  Verdict verdict;
  verdict.why = fmt::format(
      "{} exchanges that no fit has seen are off by {:.1f} % in the middle, by {:.1f} % at most ('{}'), and their "
      "times "
      "are known to {:.1f} %",
      all.size(), percent * miss, percent * miss_of(*worst), worst->exchange, percent * spread);
  for (const auto& [node, times_as_long, host] : provenance.slow_nodes)
    verdict.why += fmt::format("; node {} takes {:.1f} times as long as the others", node, times_as_long);
  const bool is_good = provenance.slow_nodes.empty() && miss <= sharp && miss_of(*worst) <= far_off && spread <= sharp;
  verdict.trust = is_good ? Trust::good : miss > wrong || spread > blurred ? Trust::none : Trust::usable;
  verdict.uncertainty = is_good ? spread : std::max(spread, miss);
  if (!provenance.slow_nodes.empty()) verdict.remedy = "look at that node, or calibrate and run without it";
  else if (!is_good) verdict.remedy = again;
  return verdict;
}

}  // namespace commpass
