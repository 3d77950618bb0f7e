#include "selector/select.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>

#include "model/catalogue.hpp"
#include "model/error.hpp"
#include "selector/offer.hpp"
#include "selector/parallel.hpp"
#include "selector/search.hpp"
#include "selector/shortlist.hpp"

namespace commpass {

namespace {

/// Seconds to nine digits: differences beyond that are rounding, not a reason.
double comparable(Seconds seconds) {
  if (seconds <= 0) return 0;
  constexpr int digits = 9;
  const double scale = std::pow(10.0, digits - 1 - std::floor(std::log10(seconds)));
  return std::round(seconds * scale) / scale;
}

/// Prices a schedule that a strategy has made.
Candidate price_schedule(const Strategy& strategy, const Schedule& schedule, const Layout& layout, const Machine& machine, CostModel model) {
  auto cost = evaluate(schedule, layout, machine, model);
  cost.seconds = comparable(cost.seconds);
  Bytes sent = 0;
  for (const auto& stage : schedule.stages)
    for (const auto& message : stage.messages) sent += message.bytes;
  return {strategy, std::move(cost), schedule.buffered_blocks_max, schedule.buffered_bytes_max, sent};
}

/// The numbers of strategies that differ in nothing but their window, and so need one schedule.
std::vector<std::vector<std::size_t>> by_route(std::span<const Strategy> strategies) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    const auto same_route = [&](const std::vector<std::size_t>& group) {
      auto other = strategies[group.front()];
      other.window = strategies[i].window;
      return other == strategies[i];
    };
    const auto group = std::ranges::find_if(groups, same_route);
    if (group == groups.end()) groups.push_back({i});
    else group->push_back(i);
  }
  return groups;
}

void sort_by_time(std::vector<Candidate>& ranking) {
  std::ranges::stable_sort(ranking, {}, [](const Candidate& c) { return c.cost.seconds; });
}

/// A pattern, and what all strategies share when they are priced for it.
class PatternPricer {
 public:
  PatternPricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model)
      : pattern_(pattern), layout_(layout), machine_(machine), model_(model), prepared_(prepare(pattern)) {}

  std::vector<Candidate> price(std::span<const Strategy> strategies) {
    const auto needs_traffic = [](const Strategy& s) { return pattern_need(s) == PatternNeed::node_traffic; };
    if (!traffic_ && std::ranges::any_of(strategies, needs_traffic)) traffic_ = node_traffic(pattern_, layout_);
    const auto groups = by_route(strategies);
    std::vector<Candidate> candidates(strategies.size());
    const auto price_group = [&](std::size_t g) { this->price_group(groups[g], strategies, candidates); };
    constexpr std::size_t worth_a_thread = 10000;  // below, starting threads takes as long as what they do
    constexpr unsigned most_threads = 8;          // each holds a schedule
    if (prepared_.blocks.size() < worth_a_thread)
      for (std::size_t g = 0; g < groups.size(); ++g) price_group(g);
    else
      in_parallel(groups.size(), price_group, [](std::size_t) {}, most_threads);
    return candidates;
  }

 private:
  /// Prices strategies that differ in their window alone.
  void price_group(std::span<const std::size_t> group, std::span<const Strategy> strategies, std::vector<Candidate>& candidates) const {
    const auto& first = strategies[group.front()];
    const auto tables = pattern_need(first) == PatternNeed::node_traffic ? PatternTables{*traffic_, {}} : make_tables(first, layout_, pattern_);
    auto schedule = make_schedule(*make_route(first, layout_, tables), {}, prepared_, first.coalescing);
    for (const auto i : group) {
      set_window(schedule, strategies[i].window);
      candidates[i] = price_schedule(strategies[i], schedule, layout_, machine_, model_);
    }
  }

  const Pattern& pattern_;
  const Layout& layout_;
  const Machine& machine_;
  CostModel model_;
  PreparedPattern prepared_;
  std::optional<NodeTraffic> traffic_;  // made when it is needed
};

/// The pattern, the layout and the machine must live as long as the result.
Pricer pattern_pricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model) {
  return [pricer = std::make_shared<PatternPricer>(pattern, layout, machine, model)](std::span<const Strategy> strategies) { return pricer->price(strategies); };
}

}  // namespace

bool has_closed_form(const Strategy& strategy) {
  return strategy.coalescing == Coalescing::coalesced && pattern_need(strategy) == PatternNeed::nothing;
}

Candidate price(const Strategy& strategy, const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model) {
  require_price(strategy, machine, model);
  const auto route = make_route(strategy, layout, pattern);
  return price_schedule(strategy, make_schedule(*route, strategy.window, pattern, strategy.coalescing), layout, machine, model);
}

std::vector<Candidate> rank_strategies(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                                       std::span<const Strategy> strategies, RankingDepth depth) {
  const bool searches = strategies.empty();
  const auto given = searches ? offered_strategies(layout, machine, model) : std::vector(strategies.begin(), strategies.end());
  for (const auto& strategy : given) require_price(strategy, machine, model);
  auto price = pattern_pricer(pattern, layout, machine, model);
  const auto part = depth == RankingDepth::cheapest ? busiest_part(pattern, layout, machine) : Pattern{};
  const auto unshared = without_sharing(machine);
  constexpr std::size_t worth_a_shortlist = 10;  // times the edges of the part
  if (depth == RankingDepth::cheapest && pattern.edges.size() > worth_a_shortlist * part.edges.size())
    price = shortlist(std::move(price), pattern_pricer(part, layout, unshared, model));
  auto ranking = price(given);
  if (searches) search_strategies(ranking, layout, std::ssize(pattern.edges), price);
  sort_by_time(ranking);
  return ranking;
}

Candidate price_alltoall(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine, CostModel model) {
  if (!has_closed_form(strategy)) throw NotApplicable(to_string(strategy), "it has no closed form");
  require_price(strategy, machine, model);
  auto cost = estimate_alltoall(bytes, *make_route(strategy, layout), strategy.window, layout, machine, model);
  cost.seconds = comparable(cost.seconds);
  return {strategy, std::move(cost), {}, {}, {}};
}

std::vector<Candidate> rank_alltoall(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model, std::span<const Strategy> strategies) {
  const bool searches = strategies.empty();
  const auto given = searches ? offered_strategies(layout, machine, model) : std::vector(strategies.begin(), strategies.end());
  const auto price_one = [&](const Strategy& strategy) { return price_alltoall(strategy, bytes, layout, machine, model); };
  const auto price_each = [&](std::span<const Strategy> some) {
    std::vector<Candidate> candidates;
    for (const auto& strategy : some)
      if (!searches || has_closed_form(strategy)) candidates.push_back(price_one(strategy));
    return candidates;
  };
  auto ranking = price_each(given);
  if (searches) search_strategies(ranking, layout, layout.ranks(), price_each);
  sort_by_time(ranking);
  return ranking;
}

}  // namespace commpass
