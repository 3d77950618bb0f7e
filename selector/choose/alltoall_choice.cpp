#include "selector/choose/alltoall_choice.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "model/cost/plan_cost.hpp"
#include "model/route/catalogue.hpp"
#include "selector/choose/exchange_class.hpp"
#include "selector/choose/library_price.hpp"
#include "selector/choose/offer.hpp"
#include "selector/choose/rank.hpp"
#include "selector/choose/shortlist.hpp"
#include "selector/choose/ties.hpp"

namespace commpass {

namespace {

/// What strategies that differ in their window and path alone tell ahead is the same. The layout and the machine must
/// live as long as this.
class Telling {
 public:
  Telling(const Layout& layout, const Machine& machine, CostModel model)
      : layout_(layout), machine_(machine), model_(model) {}

  Seconds seconds(Strategy strategy) {
    strategy.window = {};
    strategy.path = {};
    const auto [known, is_new] = seconds_.try_emplace(to_string(strategy));
    if (is_new) known->second = estimate_size_seconds(*make_route(strategy, layout_), layout_, machine_, model_);
    return known->second;
  }

 private:
  const Layout& layout_;
  const Machine& machine_;
  CostModel model_;
  std::map<std::string, Seconds> seconds_;
};

bool is_of_library(const Candidate& candidate) { return candidate.strategy.route == "mpi"; }

/// Of MPI_Alltoallv as it was measured: standard, and what the call takes beyond it. On more ranks than it was measured
/// with its own algorithm shows, which sends messages in batches.
void add_more_ranks(Candidate& mpi, const Pricer& price, const LibraryExchange& exchange, const Layout& layout,
                    const Machine& machine) {
  const auto& operations = machine.operations;
  const int more_ranks = operations.ranks ? std::max(0, layout.ranks() - *operations.ranks) : 0;
  if (more_ranks == 0) return;
  auto batches = library_algorithm(exchange, layout, machine).strategy;
  batches.path = mpi.strategy.path;
  mpi.cost = std::max(mpi.cost, price(std::span(&batches, 1)).front().cost,
                      [](const Cost& a, const Cost& b) { return a.seconds < b.seconds; });
  mpi.cost.seconds += more_ranks * operations.alltoallv_rank_s.value_or(0);
}

/// The layout and the machine must live as long as the result.
Pricer one_shot_pricer(const RandomPattern& blocks, const Layout& layout, const Machine& machine, CostModel model,
                       BlockSizes sizes) {
  const auto exchange = library_exchange(blocks, layout, sizes);
  const auto price_on = [=, &layout](const Machine& on, const LibraryAlgorithm* algorithm) {
    auto sent = blocks;
    if (algorithm && algorithm->exchanges_nothing && !on.operations.alltoallv_rank_s) {
      const double density = (blocks.density_on_node * (layout.max_ppn() - 1) +
                              blocks.density_off_node * (layout.ranks() - layout.max_ppn())) /
                             std::max(1, layout.ranks() - 1);
      sent = {.block_bytes = blocks.block_bytes * density, .ranks_drawn = blocks.ranks_drawn};
    }
    return random_pricer(sent, layout, on, model, {}, Usage::once);
  };
  const bool is_call_measured = is_measured(exchange, machine, Usage::once);
  return [=, &layout, &machine, price = with_library_price(price_on, exchange, layout, machine, model, Usage::once),
          telling = std::make_shared<Telling>(layout, machine, model)](std::span<const Strategy> strategies) {
    auto candidates = price(strategies);
    for (auto& candidate : candidates)
      if (is_call_measured && is_of_library(candidate)) add_more_ranks(candidate, price, exchange, layout, machine);
    if (sizes == BlockSizes::told)
      for (auto& candidate : candidates) candidate.cost.seconds += telling->seconds(candidate.strategy);
    return candidates;
  };
}

/// By what a lone rank sends. Of the library's own algorithms it knows nothing: they take no time. The layout must live
/// as long as the result.
Pricer part_pricer(RandomPattern blocks, const Layout& layout, const Machine& share, CostModel model) {
  blocks.ranks_drawn = RandomPattern::lone_sender;
  const auto machine = std::make_shared<const Machine>(share);
  return [machine, price = random_pricer(blocks, layout, *machine, model, {}, Usage::once)](
             std::span<const Strategy> strategies) {
    auto candidates = price(strategies);
    for (auto& candidate : candidates)
      if (is_of_library(candidate)) candidate.cost.seconds = 0;
    return candidates;
  };
}

}  // namespace

RandomPattern priced_in_call(RandomPattern blocks, int ranks) {
  constexpr int pairs_drawn = 1 << 16, ranks_min = 32, ranks_max = 256;
  blocks.block_bytes = std::min(blocks.block_bytes, static_cast<double>(class_bytes_max));
  blocks.ranks_drawn = std::clamp(pairs_drawn / ranks, ranks_min, ranks_max);
  return blocks;
}

std::vector<Candidate> rank_one_shot(const RandomPattern& given, const Layout& layout, const Machine& machine,
                                     CostModel model, std::span<const Strategy> strategies, BlockSizes sizes,
                                     RankingDepth depth, std::span<const DataPath> paths) {
  const auto blocks = given.block_bytes > 0 ? given : RandomPattern{0, 0, 0};
  constexpr int few_ranks = 1024;  // whose prices take no longer than sparing them
  const bool is_drawn = blocks.density_on_node < 1 || blocks.density_off_node < 1 || blocks.size_variance > 0;
  Alternatives alternatives{
      .price = one_shot_pricer(blocks, layout, machine, model, sizes),
      .suggestions = [&] { return offered_strategies(layout, machine, model, Usage::once, paths); },
      .edges = layout.ranks(),
      .has_edges = false,
      .from = is_drawn ? SearchFrom::cheapest : SearchFrom::near_routes};
  if (strategies.empty() && depth == RankingDepth::cheapest && layout.ranks() > few_ranks && layout.max_ppn() > 1)
    alternatives.price =
        shortlist(std::move(alternatives.price),
                  part_pricer(blocks, layout, with_shared_rates_times(machine, 1.0 / layout.max_ppn()), model),
                  1.5 + uncertainty_of(machine));
  return rank(alternatives, layout, machine, {}, strategies);
}

Candidate price_one_shot(const Strategy& strategy, const RandomPattern& blocks, const Layout& layout,
                         const Machine& machine, CostModel model, BlockSizes sizes) {
  return rank_one_shot(blocks, layout, machine, model, std::span(&strategy, 1), sizes).front();
}

}  // namespace commpass
