#include "selector/choose/shortlist.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "model/route/catalogue.hpp"
#include "selector/choose/pattern_pricer.hpp"
#include "selector/choose/search.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// What a lone message takes. @param layout  on() the machine
Seconds postal_seconds(const Edge& edge, const Layout& layout, const Machine& machine) {
  const auto& protocol = host_channel(machine, layout.level(edge.source, edge.destination)).protocol(edge.bytes);
  return protocol.alone_seconds(static_cast<double>(edge.bytes));
}

/// Remembers the cheapest candidates between calls.
class Shortlist {
 public:
  Shortlist(Pricer whole, Pricer part, double margin, std::size_t first)
      : whole_(std::move(whole)), part_(std::move(part)), margin_(margin), first_(first) {}

  std::vector<Candidate> price(std::span<const Strategy> strategies) {
    auto candidates = price_parts(strategies);
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return candidates[i].cost.seconds; });
    price_wholes(std::span(order).first(std::min(first_, order.size())), candidates);
    price_wholes(std::span(order).subspan(std::min(first_, order.size())), candidates);
    return candidates;
  }

 private:
  /// Where ways depend on the whole pattern, the price of a part says nothing about them, and is 0.
  std::vector<Candidate> price_parts(std::span<const Strategy> strategies) const {
    std::vector<Strategy> told;
    for (const auto& strategy : strategies)
      if (pattern_need(strategy) == PatternNeed::nothing) told.push_back(strategy);
    const auto parts = part_(told);
    std::vector<Candidate> candidates(strategies.size());
    auto part = parts.begin();
    for (std::size_t i = 0; i < strategies.size(); ++i) {
      if (pattern_need(strategies[i]) == PatternNeed::nothing) candidates[i] = *part++;
      candidates[i].strategy = strategies[i];
      candidates[i].is_part = true;
    }
    return candidates;
  }

  /// Prices those of the candidates in full that may be the cheapest.
  void price_wholes(std::span<const std::size_t> numbers, std::vector<Candidate>& candidates) {
    std::vector<std::size_t> promising;
    std::vector<Strategy> strategies;
    for (const auto i : numbers) {
      if (candidates[i].cost.seconds > margin_ * limit()) continue;
      promising.push_back(i);
      strategies.push_back(candidates[i].strategy);
    }
    auto priced = whole_(strategies);
    for (std::size_t p = 0; p < promising.size(); ++p) {
      if (!priced[p].exceeded_limit) known_.insert(priced[p].cost.seconds);
      candidates[promising[p]] = std::move(priced[p]);
    }
  }

  /// The price of the last of the cheapest that the search goes on from.
  Seconds limit() const {
    return known_.size() < search_breadth ? unlimited : *std::next(known_.begin(), search_breadth - 1);
  }

  Pricer whole_, part_;
  double margin_;
  std::size_t first_;
  std::multiset<Seconds> known_;  // prices in full
};

}  // namespace

std::vector<Seconds> busy_seconds(const Pattern& pattern, const Layout& given, const Machine& machine) {
  const auto layout = given.on(machine);
  const auto ranks = static_cast<std::size_t>(pattern.ranks);
  std::vector<Seconds> sending(ranks, 0), receiving(ranks, 0);
  for (const auto& edge : pattern.edges) {
    if (edge.source == edge.destination || edge.bytes == 0) continue;
    const auto seconds = postal_seconds(edge, layout, machine);
    sending[static_cast<std::size_t>(edge.source)] += seconds;
    receiving[static_cast<std::size_t>(edge.destination)] += seconds;
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) sending[rank] = std::max(sending[rank], receiving[rank]);
  return sending;
}

Pattern busiest_part(const Pattern& pattern, std::span<const Seconds> busy) {
  constexpr std::ptrdiff_t busiest = 8;
  std::vector<std::size_t> order(busy.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + std::min(busiest, std::ssize(order));
  std::ranges::partial_sort(order, end, std::ranges::greater{}, [&](std::size_t r) { return std::pair(busy[r], r); });
  std::vector<bool> is_busy(busy.size(), false);
  for (auto rank = order.begin(); rank != end; ++rank) is_busy[*rank] = true;

  Pattern part{pattern.ranks, {}, pattern.added_value_bytes};
  for (const auto& edge : pattern.edges)
    if (is_busy[static_cast<std::size_t>(edge.source)] || is_busy[static_cast<std::size_t>(edge.destination)])
      part.edges.push_back(edge);
  return part;
}

Machine without_sharing(Machine machine) {
  machine.devices_per_node.reset();
  return with_shared_rates_times(std::move(machine), unlimited);
}

Pricer shortlist(Pricer whole, Pricer part, double margin, std::size_t first) {
  return [list = std::make_shared<Shortlist>(std::move(whole), std::move(part), margin, first)](
             std::span<const Strategy> strategies) { return list->price(strategies); };
}

namespace {

Pricer pricer_of(Pattern part, const Layout& layout, const Machine& machine, CostModel model) {
  struct Part {
    Pattern pattern;
    Machine machine;
  };
  const auto own = std::make_shared<const Part>(Part{std::move(part), without_sharing(machine)});
  return [own, price = pattern_pricer(own->pattern, layout, own->machine, model, {})](
             std::span<const Strategy> strategies) { return price(strategies); };
}

}  // namespace

Pricer part_pricer(const Pattern& pattern, std::span<const Seconds> busy, const Layout& layout, const Machine& machine,
                   CostModel model) {
  return pricer_of(busiest_part(pattern, busy), layout, machine, model);
}

Pricer price_promising(Pricer whole, const Pattern& pattern, const Layout& layout, const Machine& machine,
                       CostModel model, const Calls& calls) {
  if (calls) return whole;
  auto part = busiest_part(pattern, busy_seconds(pattern, layout, machine));
  constexpr std::size_t worth_a_shortlist = 10;  // times the edges of the part
  if (pattern.edges.size() <= worth_a_shortlist * part.edges.size()) return whole;
  return shortlist(std::move(whole), pricer_of(std::move(part), layout, machine, model),
                   std::max(1.1, 1 + uncertainty_of(machine)));
}

}  // namespace commpass
