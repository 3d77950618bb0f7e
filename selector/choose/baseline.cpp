#include "selector/choose/baseline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "model/base/text.hpp"
#include "model/route/strategy.hpp"

namespace commpass {

namespace {

constexpr std::size_t of_host = 2;  // the others are of devices

std::span<const Baseline> all_baselines() {
  static const std::array known{
      Baseline{parse_strategy("standard"), "sending directly"},
      Baseline{parse_strategy("mpi"), "the MPI library's collective"},
      Baseline{parse_strategy("standard@device"), "sending directly from devices"},
      Baseline{parse_strategy("standard@staged"), "sending directly, copied through host memory"}};
  return known;
}

}  // namespace

std::span<const Baseline> baselines(DataPlace place) {
  return place == DataPlace::host ? all_baselines().first(of_host) : all_baselines().subspan(of_host);
}

const Baseline* baseline_of(const Strategy& strategy) {
  const auto all = all_baselines();
  const auto found = std::ranges::find(all, strategy, &Baseline::strategy);
  return found == all.end() ? nullptr : &*found;
}

std::string describe(const Baseline& baseline, const Candidate& candidate) {
  if (!candidate.library) return baseline.what;
  return fmt::format("{} by {}", name_of(candidate.library->function), candidate.library->name);
}

const Candidate* users_way(std::span<const Candidate> candidates, DataPlace place) {
  for (const auto& baseline : baselines(place)) {
    if (baseline.strategy.route != baselines().front().strategy.route) continue;
    const auto found = std::ranges::find(candidates, baseline.strategy, &Candidate::strategy);
    if (found != candidates.end()) return &*found;
  }
  return nullptr;
}

std::string compare_speed(Seconds own, Seconds others) {
  constexpr double equal = 1.005;   // what the digits would not show
  constexpr double one_digit = 10;  // from there on one digit after the point is enough
  const bool is_faster = own <= others;
  const double ratio = is_faster ? others / own : own / others;
  if (ratio < equal) return "as fast as";
  return fmt::format("{} times {} than", format_fixed(ratio, ratio < one_digit ? 2 : 1),
                     is_faster ? "faster" : "slower");
}

std::string compare_with_baselines(std::span<const Candidate> ranking, const Candidate& candidate, const Calls& calls) {
  std::string text;
  const auto own = ranked_seconds(candidate, calls);
  for (const auto& baseline : all_baselines()) {
    const auto found = std::ranges::find(ranking, baseline.strategy, &Candidate::strategy);
    if (found == ranking.end() || candidate.strategy == baseline.strategy || own <= 0) continue;
    const auto others = ranked_seconds(*found, calls);
    if (others <= 0 || (found->is_part && others < own)) continue;  // the least says nothing where it is less
    text += fmt::format("  {}{} {} ({}: {}{})\n", found->is_part ? "at least " : "", compare_speed(own, others),
                        describe(baseline, *found), to_string(baseline.strategy), format_seconds(others),
                        found->is_part ? " or more" : "");
  }
  return text;
}

}  // namespace commpass
