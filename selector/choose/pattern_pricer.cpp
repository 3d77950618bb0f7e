#include "selector/choose/pattern_pricer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "model/cost/plan_cost.hpp"
#include "model/route/catalogue.hpp"
#include "model/schedule/passing.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/parallel.hpp"
#include "selector/choose/pricing_progress.hpp"

namespace commpass {

namespace {

/// Between nodes that are not drawn: bytes for nodes that get from few others, for how much these get in all
/// tells how it is cut (split). As one rank of each node would send it.
std::vector<NodeTraffic::Entry> to_nodes_with_few_senders(const PreparedPattern& pattern, const Layout& layout,
                                                          const std::vector<bool>& sketched) {
  const auto is_sketched = [&](int node) {
    return static_cast<bool>(sketched[static_cast<std::size_t>(layout.ranks_of(node).front())]);
  };
  std::vector<NodeTraffic::Entry> entries;
  std::vector<Bytes> bytes_from(static_cast<std::size_t>(layout.nodes()), 0);
  std::vector<int> senders;
  for (int node = 0; node < layout.nodes(); ++node) {
    for (const Rank rank : layout.ranks_of(node)) {
      const auto* first = &pattern.first_block[static_cast<std::size_t>(rank)];
      for (auto b = first[0]; b < first[1]; ++b) {
        const int sender = layout.node(pattern.ends[b].source);
        auto& bytes = bytes_from[static_cast<std::size_t>(sender)];
        if (bytes == 0) senders.push_back(sender);
        bytes += pattern.blocks[b].bytes;
      }
    }
    const bool is_looked_at = is_sketched(node) || std::ssize(senders) > layout.ppn(node);
    for (const int sender : senders) {
      const auto bytes = std::exchange(bytes_from[static_cast<std::size_t>(sender)], 0);
      if (is_looked_at || sender == node || is_sketched(sender)) continue;
      entries.push_back({layout.ranks_of(sender).front(), node, bytes});
    }
    senders.clear();
  }
  return entries;
}

/// Does each rank send one message at most in each stage, in the first round? Then no window changes anything.
bool has_lone_messages(const Schedule& schedule) {
  return std::ranges::all_of(schedule.stages, [](const Stage& stage) {
    const auto& messages = stage.messages;  // by sender
    return std::ranges::all_of(messages, [](const Message& m) { return m.round <= 1; }) &&
           std::ranges::adjacent_find(messages, {}, &Message::from) == messages.end();
  });
}

/// A pattern, and what all strategies share when they are priced for it.
class PatternPricer {
 public:
  PatternPricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                const Calls& calls, std::vector<bool> sketched, unsigned threads,
                const std::optional<BufferPlaces>& places = {})
      : pattern_(pattern),
        layout_(layout),
        machine_(machine),
        model_(model),
        counts_calls_(calls.has_value()),
        sketched_(std::move(sketched)),
        threads_(threads),
        prepared_(prepare(pattern, places)) {}

  std::vector<Candidate> price(std::span<const Strategy> strategies) {
    if (!traffic_ && needs_traffic(strategies)) traffic_ = node_traffic(pattern_, layout_);
    return price_groups(strategies, [&](std::span<const std::size_t> group, std::vector<Candidate>& candidates) {
      price_group(group, strategies, candidates);
    });
  }

  std::vector<Candidate> sketch(std::span<const Strategy> strategies) {
    if (!sketched_traffic_ && needs_traffic(strategies)) sketch_traffic();
    return price_groups(strategies, [&](std::span<const std::size_t> group, std::vector<Candidate>& candidates) {
      sketch_group(group, strategies, candidates);
    });
  }

 private:
  static bool needs_traffic(std::span<const Strategy> strategies) {
    return std::ranges::any_of(strategies,
                               [](const Strategy& s) { return pattern_need(s) == PatternNeed::node_traffic; });
  }

  /// @param price_group  prices strategies that differ in their window and path alone
  template <class PriceGroup>
  std::vector<Candidate> price_groups(std::span<const Strategy> strategies, PriceGroup price_group) const {
    for (const auto& strategy : strategies) require_price(strategy, machine_, model_);
    const auto groups = by_route(strategies);
    std::vector<Candidate> candidates(strategies.size());
    auto& progress = pricing_progress();
    progress.asked += std::ssize(strategies);
    const auto price_each = [&](std::size_t g) {
      for (const auto i : groups[g]) require_applicable(strategies[i], layout_);
      price_group(groups[g], candidates);
      progress.priced += std::ssize(groups[g]);
    };
    constexpr std::size_t worth_a_thread = 10000;  // below, starting threads takes as long as what they do
    // A thread holds a schedule, of up to some 250 bytes a block.
    constexpr std::size_t blocks_at_once_max = std::size_t{1} << 22;
    const auto threads = static_cast<unsigned>(std::clamp<std::size_t>(
        blocks_at_once_max / std::max<std::size_t>(prepared_.blocks.size(), 1), 1, std::max(threads_, 1U)));
    if (threads == 1 || prepared_.blocks.size() < worth_a_thread)
      for (std::size_t g = 0; g < groups.size(); ++g) price_each(g);
    else
      in_parallel(
          groups.size(), price_each, [](std::size_t) {}, threads);
    return candidates;
  }

  void price_group(std::span<const std::size_t> group, std::span<const Strategy> strategies,
                   std::vector<Candidate>& candidates) const {
    const auto& first = strategies[group.front()];
    const auto tables = pattern_need(first) == PatternNeed::node_traffic ? PatternTables{*traffic_, {}}
                                                                         : make_tables(first, layout_, pattern_);
    const auto route = make_route(first, layout_, tables);
    auto schedule = make_schedule(*route, {}, prepared_, first.coalescing);
    Bytes sent = 0;
    for (const auto& stage : schedule.stages)
      for (const auto& message : stage.messages) sent += message.bytes;
    price_windows(group, strategies, *route, schedule, Overlaps::priced, candidates);
    for (const auto i : group) {
      candidates[i].buffered_blocks_max = schedule.buffered_blocks_max;
      candidates[i].buffered_bytes_max = schedule.buffered_bytes_max;
      candidates[i].bytes_sent = sent;
      candidates[i].exceeded_limit =
          exceeded_limit(machine_.limits, *candidates[i].demand, schedule.buffered_bytes_max);
    }
    if (!counts_calls_) return;
    if (first.coalescing == Coalescing::staggered) schedule = make_schedule(*route, {}, prepared_);
    const auto seconds = comparable(plan_seconds(std::move(schedule), first, layout_, machine_, model_));
    for (const auto i : group) candidates[i].plan_seconds = seconds;
  }

  void sketch_group(std::span<const std::size_t> group, std::span<const Strategy> strategies,
                    std::vector<Candidate>& candidates) const {
    const auto& first = strategies[group.front()];
    const auto need = pattern_need(first);
    if (need == PatternNeed::rank_traffic) {
      for (const auto i : group) candidates[i].strategy = strategies[i];
      return;
    }
    const bool has_relays = need == PatternNeed::node_traffic;
    const auto route = make_route(first, layout_, has_relays ? PatternTables{*sketched_traffic_, {}} : PatternTables{});
    auto schedule = has_relays ? make_schedule(*route, {}, sketched_blocks_, first.coalescing)
                               : make_schedule(*route, {}, passing(prepared_, *route, sketched_), first.coalescing);
    price_windows(group, strategies, *route, schedule, Overlaps::ignored, candidates);
  }

  /// @param schedule  with all of a stage in flight at once
  void price_windows(std::span<const std::size_t> group, std::span<const Strategy> strategies, const Route& route,
                     Schedule& schedule, Overlaps overlaps, std::vector<Candidate>& candidates) const {
    const bool is_indifferent = group.size() > 1 && has_lone_messages(schedule);
    Window present;
    for (const auto i : group) {
      const auto& strategy = strategies[i];
      auto& candidate = candidates[i];
      candidate.strategy = strategy;
      if (is_indifferent && i != group.front() && strategy.path == strategies[group.front()].path) {
        candidate.cost = candidates[group.front()].cost;
        candidate.demand = candidates[group.front()].demand;
        continue;
      }
      const auto window = window_within(machine_.limits, schedule, layout_, strategy);
      if (window != strategy.window) candidate.limited_window = window;
      if (window != present) set_window(route, schedule, present = window);
      candidate.cost = evaluate(schedule, layout_, machine_, model_, Usage::planned, strategy.path, overlaps);
      candidate.cost.seconds = comparable(candidate.cost.seconds);
      candidate.demand = demand_of(schedule, layout_);
    }
  }

  /// Relays are on the node where a block begins or on that where it ends, and share the blocks between the two nodes.
  /// So those on a node follow from the blocks to and from it.
  void sketch_traffic() {
    sketched_blocks_ = beginning_or_ending(prepared_, sketched_);
    Pattern pattern{pattern_.ranks, {}};
    for (const auto& block : sketched_blocks_.blocks)
      pattern.edges.push_back({block.source, block.destination, block.bytes, block.payload});
    sketched_traffic_ = node_traffic(pattern, layout_);
    for (const auto& entry : to_nodes_with_few_senders(prepared_, layout_, sketched_))
      sketched_traffic_->entries.push_back(entry);
  }

  const Pattern& pattern_;
  const Layout& layout_;
  const Machine& machine_;
  CostModel model_;
  bool counts_calls_;
  std::vector<bool> sketched_;
  unsigned threads_;
  PreparedPattern prepared_;
  std::optional<NodeTraffic> traffic_, sketched_traffic_;  // made when they are needed
  PreparedPattern sketched_blocks_;                        // with the latter
};

}  // namespace

Pricer pattern_pricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                      const Calls& calls, unsigned threads, const std::optional<BufferPlaces>& places) {
  return [pricer = std::make_shared<PatternPricer>(pattern, layout, machine, model, calls, std::vector<bool>(), threads,
                                                   places)](std::span<const Strategy> strategies) {
    return pricer->price(strategies);
  };
}

PatternPricers pattern_pricers(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                               std::vector<bool> sketched, unsigned threads) {
  const auto pricer =
      std::make_shared<PatternPricer>(pattern, layout, machine, model, Calls(), std::move(sketched), threads);
  return {[pricer](std::span<const Strategy> strategies) { return pricer->price(strategies); },
          [pricer](std::span<const Strategy> strategies) { return pricer->sketch(strategies); }};
}

}  // namespace commpass
