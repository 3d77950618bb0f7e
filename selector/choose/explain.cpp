#include "selector/choose/explain.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "model/base/format.hpp"
#include "model/base/text.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/baseline.hpp"

namespace commpass {

namespace {

std::array<Seconds, cost_part_count> parts_of(const Cost& cost) {
  std::array<Seconds, cost_part_count> sum{};
  for (const auto& stage : cost.stages)
    for (std::size_t p = 0; p < sum.size(); ++p) sum[p] += stage.parts[p];
  return sum;
}

std::int64_t messages_of(const Cost& cost) {
  std::int64_t sum = 0;
  for (const auto& stage : cost.stages) sum += stage.messages_max;
  return sum;
}

std::string describe_calls(const Candidate& candidate, const Calls& calls) {
  return fmt::format("plan {} + {} x {} = {}", format_seconds(candidate.plan_seconds.value_or(0)), calls.value_or(0),
                     format_seconds(candidate.cost.seconds), format_seconds(ranked_seconds(candidate, calls)));
}

/// Why `loser` costs more than `winner`, or, after a tie, less: the part that grows most, and the one that shrinks
/// most.
std::string compare(const Candidate& winner, const Candidate& loser, const Calls& calls) {
  const auto won = parts_of(winner.cost), lost = parts_of(loser.cost);
  std::size_t more = 0, less = 0;
  for (std::size_t p = 0; p < won.size(); ++p) {
    if (lost[p] - won[p] > lost[more] - won[more]) more = p;
    if (lost[p] - won[p] < lost[less] - won[less]) less = p;
  }
  const auto ratio = ranked_seconds(loser, calls) / ranked_seconds(winner, calls);
  auto text = fmt::format("{} is {} times as {} ({})", to_string(loser.strategy),
                          format_fixed(ratio < 1 ? 1 / ratio : ratio, 2), ratio < 1 ? "fast" : "long",
                          calls ? describe_calls(loser, calls) : format_seconds(loser.cost.seconds));
  // Sums of the same terms in another order differ in their last digits.
  constexpr double rounding = 1e-9;
  const auto differs = [&](std::size_t p) { return std::abs(lost[p] - won[p]) > rounding * winner.cost.seconds; };
  const bool has_more = lost[more] > won[more] && differs(more), has_less = lost[less] < won[less] && differs(less);
  if (has_more)
    text += fmt::format(": it spends {} more on {}", format_seconds(lost[more] - won[more]),
                        describe(static_cast<CostPart>(more)));
  if (has_less)
    text += fmt::format("{} {} less on {}", has_more ? " and" : ": it spends", format_seconds(won[less] - lost[less]),
                        describe(static_cast<CostPart>(less)));
  return text + fmt::format("; a rank sends up to {} messages against {}.\n", messages_of(loser.cost),
                            messages_of(winner.cost));
}

/// What each flag of a strategy brings, where the strategy without it was priced, too.
std::string gains(std::span<const Candidate> ranking, const Candidate& candidate) {
  std::string text;
  for (const auto& parameter : catalogue_row(candidate.strategy.route).parameters) {
    if (parameter.kind != Parameter::Kind::flag || candidate.strategy.values(parameter.name).empty() ||
        candidate.cost.seconds <= 0)
      continue;
    auto without = candidate.strategy;
    without.set(parameter.name, {});
    const auto found = std::ranges::find(ranking, without, &Candidate::strategy);
    if (found == ranking.end()) continue;
    text +=
        fmt::format("  without {}: {} predicted, {} times as long", parameter.name, format_seconds(found->cost.seconds),
                    format_fixed(found->cost.seconds / candidate.cost.seconds, 2));
    if (candidate.bytes_sent && found->bytes_sent)
      text += fmt::format("; all ranks together would send {}, not {}",
                          format_bytes(static_cast<double>(*found->bytes_sent)),
                          format_bytes(static_cast<double>(*candidate.bytes_sent)));
    text += "\n";
  }
  return text;
}

/// Which algorithm the MPI library takes, by which rule, and who published it.
std::string describe_library(const LibraryAlgorithm& algorithm) {
  auto text = fmt::format(
      "  {} takes the algorithm '{}', which sends the messages of {}\n  by the rule of {}{}\n  ({})\n",
      name_of(algorithm.function), algorithm.name, to_string(algorithm.strategy), algorithm.rule,
      algorithm.is_stand_in ? ", since the profile names no MPI library whose rules are known" : "", algorithm.source);
  if (algorithm.exchanges_nothing) text += "  ranks without a block exchange an empty message\n";
  return text;
}

}  // namespace

std::string explain(std::span<const Candidate> ranking, std::size_t chosen, const Calls& calls, const Ties& ties) {
  const auto& candidate = ranking[chosen];
  auto text = fmt::format("{}: {} predicted\n", to_string(candidate.strategy), format_seconds(candidate.cost.seconds));
  if (calls) append(text, "  {}\n", describe_calls(candidate, calls));
  for (std::size_t s = 0; s < candidate.cost.stages.size(); ++s) {
    const auto& stage = candidate.cost.stages[s];
    append(text, "  stage {} ({}): up to {}{} by a rank, {}", s + 1, stage.label,
           stage.is_staging ? "" : fmt::format("{} messages and ", stage.messages_max),
           format_bytes(static_cast<double>(stage.bytes_max)) + (stage.is_staging ? "" : " sent"),
           format_seconds(stage.seconds));
    const auto part = stage.dominant();
    if (const auto seconds = stage.parts[static_cast<std::size_t>(part)]; seconds > 0)
      append(text, ", most of it {} ({})", describe(part), format_seconds(seconds));
    text += "\n";
  }
  if (candidate.library) text += describe_library(*candidate.library);
  if (candidate.limited_window)
    append(text, "  windows of {} rounds keep the limit of messages in flight\n", candidate.limited_window->rounds);
  if (const auto& demand = candidate.demand)
    append(text, "  a rank has up to {} messages in flight, {} of them to other nodes, and sends to {} ranks\n",
           demand->messages, demand->messages_off_node, demand->partners);
  if (candidate.exceeded_limit)
    append(text, "  it exceeds the limit limits.{} of the profile, and is chosen where nothing else keeps it\n",
           candidate.exceeded_limit);
  if (candidate.buffered_blocks_max && candidate.buffered_bytes_max)
    append(text, "  a rank holds up to {} blocks ({}) for others\n", *candidate.buffered_blocks_max,
           format_bytes(static_cast<double>(*candidate.buffered_bytes_max)));
  text += gains(ranking, candidate);
  text += compare_with_baselines(ranking, candidate, calls);
  if (ranking.size() < 2 || candidate.cost.seconds <= 0) return text;
  const bool is_best = chosen == 0;
  if (const auto tied = describe_ties(ties, candidate.strategy); is_best && !tied.empty()) text += tied + ".\n";
  if (is_best && ranked_seconds(ranking[1], calls) < ranked_seconds(candidate, calls)) return text;
  if (is_best) return text + "Runner-up: " + compare(candidate, ranking[1], calls);
  const auto& winner = ranking.front();
  text += "Not chosen: ";
  if (ties.contains(candidate.strategy) && ties.contains(winner.strategy))
    append(text,
           "it lost a tie. {} is the simplest of {} strategies that this profile cannot tell apart ({}).\n"
           "Against that one: ",
           to_string(winner.strategy), ties.strategies.size(), format_share(ties.uncertainty));
  return text + compare(winner, candidate, calls);
}

}  // namespace commpass
