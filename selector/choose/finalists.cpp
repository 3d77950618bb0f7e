#include "selector/choose/finalists.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/search.hpp"
#include "selector/choose/shortlist.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

namespace {

constexpr Seconds endless = std::numeric_limits<Seconds>::infinity();

/// The ratio of two sketches up to which their prices in full may be the other way round: sketches are 0.9 to 1.1 of
/// most prices.
constexpr double sketch_spread = 1.25;

/// The last of the cheapest that the search goes on from, of prices that say something.
class Cheapest {
 public:
  void add(Seconds seconds) {
    if (seconds > 0) seconds_.insert(seconds);
  }
  Seconds last() const {
    return seconds_.size() < search_breadth ? endless : *std::next(seconds_.begin(), search_breadth - 1);
  }

 private:
  std::multiset<Seconds> seconds_;
};

/// Candidates, and how deep each was looked at.
class Finalists {
 public:
  Finalists(const PricersByDepth& price, std::vector<Candidate> candidates, double margin, std::size_t at_once)
      : price_(price), candidates_(std::move(candidates)), margin_(margin), at_once_(at_once) {
    Cheapest sketches;
    for (const auto& candidate : candidates_) {
      depths_.push_back(candidate.is_part ? Depth::part : Depth::sketch);
      if (!candidate.is_part) sketches.add(candidate.cost.seconds);
    }
    for (auto& candidate : candidates_) candidate.is_part = true;
    first_limit_ = sketch_spread * sketches.last();
  }

  std::vector<Candidate> take() {
    for (auto next = most_promising(); !next.empty(); next = most_promising()) {
      auto parts = next;
      std::erase_if(parts, [&](std::size_t i) { return depths_[i] != Depth::part; });
      if (!parts.empty()) deepen(parts, price_.sketch, Depth::sketch);
      else deepen(next, price_.sample, Depth::sample);
    }
    return std::move(candidates_);
  }

 private:
  enum class Depth { part, sketch, sample };

  /// Those that are priced next: candidates that may be as cheap as the cheapest.
  std::vector<std::size_t> most_promising() const {
    const auto limit = by_sample_.last() < endless ? margin_ * by_sample_.last() : first_limit_;
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (depths_[i] != Depth::sample && candidates_[i].cost.seconds <= limit) result.push_back(i);
    std::ranges::stable_sort(result, {}, [&](std::size_t i) { return candidates_[i].cost.seconds; });
    result.resize(std::min(result.size(), at_once_));
    return result;
  }

  void deepen(std::span<const std::size_t> numbers, const Pricer& price, Depth depth) {
    std::vector<Strategy> strategies;
    for (const auto i : numbers) strategies.push_back(candidates_[i].strategy);
    auto priced = price(strategies);
    for (std::size_t p = 0; p < numbers.size(); ++p) {
      const auto i = numbers[p];
      candidates_[i] = std::move(priced[p]);
      candidates_[i].is_part = depth != Depth::sample;
      depths_[i] = depth;
      if (depth == Depth::sample && !candidates_[i].exceeded_limit) by_sample_.add(candidates_[i].cost.seconds);
    }
  }

  const PricersByDepth& price_;
  std::vector<Candidate> candidates_;
  std::vector<Depth> depths_;  // of each
  double margin_;
  std::size_t at_once_;
  Seconds first_limit_ = endless;
  Cheapest by_sample_;
};

/// Do two candidates send the same messages on the nodes of their samples, as far as prices and counts tell?
bool are_alike(const Candidate& a, const Candidate& b) {
  const auto is_like = [](const StageCost& stage, const StageCost& other) {
    return stage.messages_max == other.messages_max && stage.bytes_max == other.bytes_max;
  };
  return a.cost.seconds == b.cost.seconds && a.demand == b.demand && a.strategy.path == b.strategy.path &&
         std::ranges::equal(a.cost.stages, b.cost.stages, is_like);
}

/// Prices those that may be the cheapest, as far as the errors of samples tell. Of those that are alike one is priced.
void settle(std::vector<Candidate>& candidates, const Pricer& whole) {
  const auto bound = [](const Candidate& candidate, double sign) {
    return candidate.cost.seconds * (1 + sign * candidate.cost.sampling_error);
  };
  std::vector<bool> is_settled(candidates.size(), false);
  const auto find_open = [&] {
    Seconds limit = endless;
    for (const auto& candidate : candidates)
      if (!candidate.is_part && !candidate.exceeded_limit) limit = std::min(limit, bound(candidate, +1));
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      if (!is_settled[i] && !candidates[i].is_part && candidates[i].cost.sampling_error > 0 &&
          bound(candidates[i], -1) <= limit)
        open.push_back(i);
    return open;
  };
  for (auto open = find_open(); !open.empty(); open = find_open()) {
    std::vector<std::size_t> first_alike;  // by place in `open`
    std::vector<Strategy> strategies;
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::size_t first = 0;
      while (!are_alike(candidates[open[first]], candidates[open[i]])) ++first;
      first_alike.push_back(first);
      if (first == i) strategies.push_back(candidates[open[i]].strategy);
      is_settled[open[i]] = true;
    }
    auto priced = whole(strategies);
    for (std::size_t i = 0, next = 0; i < open.size(); ++i) {
      auto& candidate = candidates[open[i]];
      if (first_alike[i] == i) candidate = std::move(priced[next++]);
      else candidate.cost = candidates[open[first_alike[i]]].cost;
    }
  }
}

}  // namespace

std::optional<PricersByDepth> pricers_by_depth(const Pattern& pattern, const Layout& layout, const Machine& machine,
                                               CostModel model, unsigned threads) {
  constexpr std::size_t sketched_edges_min = 20'000;  // fewer are priced in full within a second
  if (pattern.edges.size() < sketched_edges_min) return std::nullopt;
  const auto busy = busy_seconds(pattern, layout, machine);
  auto order = sampling_order(layout, busy);
  if (nodes_per_sketched_node > order.nodes.size()) return std::nullopt;  // it spares nothing
  auto [sketch, sample, whole] = pattern_pricers(pattern, layout, machine, model, std::move(order), threads);
  return PricersByDepth{part_pricer(pattern, busy, layout, machine, model), std::move(sketch), std::move(sample),
                        std::move(whole)};
}

std::vector<Candidate> rank_finalists(const PricersByDepth& price, std::span<const Strategy> suggestions,
                                      const Layout& layout, const Machine& machine, std::int64_t edges,
                                      std::size_t at_once) {
  // Messages meet others in a sketch, which exceeds most prices by less.
  constexpr double sketch_excess = 1.1;
  // By sketches the search may come to other places than by prices. It goes on from these, but not for long.
  constexpr std::int64_t last_part = 8;
  // Fewer trials than one strategy has neighbours find nothing, and others wait for them.
  constexpr std::int64_t worth_a_search = 8;
  const auto most = most_tried(edges) < worth_a_search ? 0 : most_tried(edges);
  const auto by_sketch = shortlist(price.sketch, price.part, sketch_spread, at_once);
  auto candidates = by_sketch(suggestions);
  search_neighbours(candidates, layout, most, by_sketch);
  Finalists finalists(price, std::move(candidates), std::max(sketch_excess, 1 + uncertainty_of(machine)), at_once);
  auto ranking = finalists.take();
  search_neighbours(ranking, layout, most / last_part, price.sample);
  search_flags(ranking, edges, price.sample);
  if (price.whole) settle(ranking, price.whole);
  sort_ranking(ranking, {});
  return ranking;
}

}  // namespace commpass
