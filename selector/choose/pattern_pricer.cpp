#include "selector/choose/pattern_pricer.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "model/cost/plan_cost.hpp"
#include "model/cost/sample.hpp"
#include "model/route/catalogue.hpp"
#include "model/schedule/passing.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/parallel.hpp"
#include "selector/choose/pricing_progress.hpp"
#include "selector/choose/shortlist.hpp"

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
                const Calls& calls, std::optional<SamplingOrder> order, unsigned threads,
                const std::optional<BufferPlaces>& places = {})
      : pattern_(pattern),
        layout_(layout),
        machine_(machine),
        model_(model),
        counts_calls_(calls.has_value()),
        order_(std::move(order)),
        threads_(threads),
        prepared_(prepare(pattern, places)) {}

  std::vector<Candidate> price(std::span<const Strategy> strategies, std::int64_t messages_max) {
    check(strategies);
    for (const auto& strategy : strategies) {
      if (nodes_run(strategy, messages_max) < layout_.nodes()) {
        if (!order_) order_ = sampling_order(layout_, busy_seconds(pattern_, layout_, machine_));
      } else if (!traffic_ && pattern_need(strategy) == PatternNeed::node_traffic) {
        traffic_ = node_traffic(pattern_, layout_);
      }
    }
    return price_groups(strategies, [&](std::span<const std::size_t> group, std::vector<Candidate>& candidates) {
      const int nodes = nodes_run(strategies[group.front()], messages_max);
      if (nodes < layout_.nodes()) price_sample(group, strategies, at(nodes), sample_with_error, candidates);
      else price_whole(group, strategies, candidates);
    });
  }

  /// By a few nodes, at least the busiest ones.
  std::vector<Candidate> sketch(std::span<const Strategy> strategies) const {
    check(strategies);
    const auto nodes =
        std::clamp<std::size_t>(order_->nodes.size() / nodes_per_sketched_node, sketched_nodes_min, sketched_nodes_max);
    return price_groups(strategies, [&](std::span<const std::size_t> group, std::vector<Candidate>& candidates) {
      if (pattern_need(strategies[group.front()]) != PatternNeed::rank_traffic)
        return price_sample(group, strategies, nodes, sample_of_nodes, candidates);
      for (const auto i : group) candidates[i].strategy = strategies[i];
    });
  }

 private:
  void check(std::span<const Strategy> strategies) const {
    for (const auto& strategy : strategies) require_price(strategy, machine_, model_);
    for (const auto& strategy : strategies) require_applicable(strategy, layout_);
  }

  /// The nodes that are run of a strategy within the budget of messages.
  int nodes_run(const Strategy& strategy, std::int64_t messages_max) const {
    constexpr std::int64_t nodes_min = 16;  // fewer do not tell how much nodes differ
    const auto blocks = std::ssize(prepared_.blocks);
    if (blocks <= messages_max / stages_max || layout_.nodes() <= nodes_min) return layout_.nodes();
    std::int64_t messages = 0;
    const auto route = make_route(strategy, layout_);
    for (const auto& stage : route->stages()) {
      const auto coalesced = stage.messages_max > 0 ? stage.messages_max : std::int64_t{pattern_.ranks} * stage.rounds;
      const bool is_bounded = coalesced > 0 && !is_staggered(stage, strategy.coalescing);
      messages += is_bounded ? std::min(blocks, coalesced) : blocks;
    }
    if (messages <= messages_max) return layout_.nodes();
    const auto part = static_cast<double>(messages_max) / static_cast<double>(messages);
    return static_cast<int>(std::max(nodes_min, static_cast<std::int64_t>(part * layout_.nodes())));
  }

  /// @param price_group  prices strategies that differ in their window and path alone
  template <class PriceGroup>
  std::vector<Candidate> price_groups(std::span<const Strategy> strategies, PriceGroup price_group) const {
    const auto groups = by_route(strategies);
    std::vector<Candidate> candidates(strategies.size());
    auto& progress = pricing_progress();
    progress.asked += std::ssize(strategies);
    const auto price_each = [&](std::size_t g) {
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

  void price_whole(std::span<const std::size_t> group, std::span<const Strategy> strategies,
                   std::vector<Candidate>& candidates) const {
    const auto& first = strategies[group.front()];
    const auto tables = pattern_need(first) == PatternNeed::node_traffic ? PatternTables{*traffic_, {}}
                                                                         : make_tables(first, layout_, pattern_);
    const auto route = make_route(first, layout_, tables);
    auto schedule = make_schedule(*route, {}, prepared_, first.coalescing);
    price_windows(group, strategies, *route, schedule, candidates, [&](const Schedule& run, const DataPath& path) {
      return evaluate(run, layout_, machine_, model_, Usage::planned, path);
    });
    describe(group, strategies, *route, std::move(schedule), {}, candidates);
  }

  /// @param nodes  the number of the first ones in the order that are run
  /// @param take   sample_with_error or sample_of_nodes
  void price_sample(std::span<const std::size_t> group, std::span<const Strategy> strategies, std::size_t nodes,
                    decltype(sample_of_nodes)& take, std::vector<Candidate>& candidates) const {
    const auto& first = strategies[group.front()];
    const auto is_sampled = order_->ranks_of_first(nodes, layout_);
    std::unique_ptr<Route> route;
    Schedule schedule;
    if (pattern_need(first) == PatternNeed::node_traffic) {
      const auto blocks = beginning_or_ending(prepared_, is_sampled);
      route = make_route(first, layout_, {traffic_of(blocks, is_sampled), {}});
      schedule = make_schedule(*route, {}, blocks, first.coalescing);
    } else {
      route = make_route(first, layout_, make_tables(first, layout_, pattern_));
      schedule = make_schedule(*route, {}, passing(prepared_, *route, is_sampled), first.coalescing);
    }
    price_windows(group, strategies, *route, schedule, candidates, [&](const Schedule& run, const DataPath& path) {
      require_parameters(layout_, machine_, path);
      return evaluate(take(run, layout_.on(machine_), *order_, nodes), machine_, model_, Usage::planned, path);
    });
    describe(group, strategies, *route, std::move(schedule), is_sampled, candidates);
  }

  /// @param schedule  with all of a stage in flight at once
  /// @param evaluate  gives the cost of it, or of its transposition, with data on a path
  template <class Evaluate>
  void price_windows(std::span<const std::size_t> group, std::span<const Strategy> strategies, const Route& route,
                     Schedule& schedule, std::vector<Candidate>& candidates, Evaluate evaluate) const {
    std::optional<Schedule> back;
    const auto run = [&]() -> const Schedule& {
      if (!pattern_.is_transposed()) return schedule;
      if (!back) back = transposed(schedule);
      return *back;
    };
    const bool is_indifferent = group.size() > 1 && has_lone_messages(run());
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
      const auto window = window_within(machine_.limits, run(), layout_, strategy);
      if (window != strategy.window) candidate.limited_window = window;
      if (window != present) {
        set_window(route, schedule, present = window);
        back.reset();
      }
      candidate.cost = evaluate(run(), strategy.path);
      candidate.cost.seconds = comparable(candidate.cost.seconds);
      candidate.demand = demand_of(run(), layout_);
    }
  }

  /// What candidates need besides the time of an exchange.
  /// @param is_sampled  the ranks that send all their messages; empty: all do
  void describe(std::span<const std::size_t> group, std::span<const Strategy> strategies, const Route& route,
                Schedule schedule, const std::vector<bool>& is_sampled, std::vector<Candidate>& candidates) const {
    Bytes sent = 0;
    for (const auto& stage : schedule.stages)
      for (const auto& message : stage.messages)
        if (is_sampled.empty() || is_sampled[at(message.from)]) sent += message.bytes;
    if (const auto ranks = std::ranges::count(is_sampled, true); ranks > 0)
      sent = std::llround(static_cast<double>(sent) / static_cast<double>(ranks) * pattern_.ranks);
    for (const auto i : group) {
      candidates[i].buffered_blocks_max = schedule.buffered_blocks_max;
      candidates[i].buffered_bytes_max = schedule.buffered_bytes_max;
      candidates[i].bytes_sent = sent;
      candidates[i].exceeded_limit =
          exceeded_limit(machine_.limits, *candidates[i].demand, schedule.buffered_bytes_max);
    }
    if (!counts_calls_) return;
    const auto& first = strategies[group.front()];
    if (first.coalescing == Coalescing::staggered) schedule = make_schedule(route, {}, prepared_);
    const auto seconds = comparable(plan_seconds(std::move(schedule), first, layout_, machine_, model_));
    for (const auto i : group) candidates[i].plan_seconds = seconds;
  }

  /// Relays are on the node where a block begins or on that where it ends, and share the blocks between the two nodes.
  /// So those on a node follow from the blocks to and from it.
  NodeTraffic traffic_of(const PreparedPattern& sampled, const std::vector<bool>& is_sampled) const {
    Pattern pattern{pattern_.ranks, {}, pattern_.added_value_bytes};
    for (const auto& block : sampled.blocks)
      pattern.edges.push_back({block.source, block.destination, block.bytes, block.payload});
    auto traffic = node_traffic(pattern, layout_);
    for (const auto& entry : to_nodes_with_few_senders(prepared_, layout_, is_sampled))
      traffic.entries.push_back(entry);
    return traffic;
  }

  static constexpr std::size_t sketched_nodes_min = 4, sketched_nodes_max = 8;
  static constexpr int stages_max = 32;  // with two values of a digit, as many as an integer has

  const Pattern& pattern_;
  const Layout& layout_;
  const Machine& machine_;
  CostModel model_;
  bool counts_calls_;
  std::optional<SamplingOrder> order_;  // made when it is needed
  unsigned threads_;
  PreparedPattern prepared_;
  std::optional<NodeTraffic> traffic_;  // made when it is needed
};

}  // namespace

Pricer pattern_pricer(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                      const Calls& calls, unsigned threads, const std::optional<BufferPlaces>& places,
                      std::int64_t messages_max) {
  // Prepared when it is asked first: some are never, and a prepared pattern is large.
  return [=, &pattern, &layout, &machine,
          pricer = std::make_shared<std::optional<PatternPricer>>()](std::span<const Strategy> strategies) {
    if (strategies.empty()) return std::vector<Candidate>();
    if (!*pricer) pricer->emplace(pattern, layout, machine, model, calls, std::nullopt, threads, places);
    return (*pricer)->price(strategies, messages_max);
  };
}

PatternPricers pattern_pricers(const Pattern& pattern, const Layout& layout, const Machine& machine, CostModel model,
                               SamplingOrder order, unsigned threads) {
  const auto pricer =
      std::make_shared<PatternPricer>(pattern, layout, machine, model, Calls(), std::move(order), threads);
  const auto up_to = [&](std::int64_t messages_max) {
    return [=](std::span<const Strategy> strategies) { return pricer->price(strategies, messages_max); };
  };
  return {[pricer](std::span<const Strategy> strategies) { return pricer->sketch(strategies); },
          up_to(simulated_messages_max_in_program), up_to(simulated_messages_max)};
}

}  // namespace commpass
