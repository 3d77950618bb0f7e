#include "runtime/cartesian/cart_choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/route/catalogue.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/choose/selection.hpp"
#include "runtime/choose/shared_pricing.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "selector/choose/family.hpp"
#include "selector/choose/grid_strategies.hpp"
#include "selector/choose/offer.hpp"

namespace commpass {

const CartChoice::Class& CartChoice::Classes::choose(const std::vector<Bytes>& bytes, bool is_same) const {
  const auto total = std::accumulate(bytes.begin(), bytes.end(), 0.0);
  const double mean = bytes.empty() ? 0 : total / static_cast<double>(bytes.size());
  return class_of(is_same ? allgather : alltoall, mean);
}

bool CartChoice::Classes::are_all_local() const {
  const auto is_its = [](const Class& c) { return c.is_local(); };
  return std::ranges::all_of(alltoall, is_its) && std::ranges::all_of(allgather, is_its);
}

bool CartChoice::Classes::share_memory() const {
  const auto shares = [](const Class& c) { return c.strategy.path.is_shared; };
  return std::ranges::any_of(alltoall, shares) || std::ranges::any_of(allgather, shares);
}

namespace {

/// Blocks in the proportions of the weights; in all others the same.
NeighborBytes unit_of(const Neighborhood& neighborhood, bool is_same) {
  auto unit = NeighborBytes::equal(neighborhood, 1, is_same);
  const auto& weights = neighborhood.weights;
  if (is_same || weights.empty() || std::ranges::all_of(weights, [](int w) { return w == 0; })) return unit;
  const int divisor = std::accumulate(weights.begin(), weights.end(), 0, [](int a, int b) { return std::gcd(a, b); });
  for (std::size_t i = 0; i < weights.size(); ++i) unit.bytes[i] = weights[i] / divisor;
  return unit;
}

double mean_of(const NeighborBytes& unit) {
  const auto total = std::accumulate(unit.bytes.begin(), unit.bytes.end(), 0.0);
  return unit.bytes.empty() ? 1 : total / static_cast<double>(unit.bytes.size());
}

/// Strategies that the grid does not suggest, and that may be cheaper than those that it does, on rank 0. All ranks
/// share the pricing. Collective.
std::vector<Strategy> find_others(const Context& context, const Neighborhood& neighborhood,
                                  const NeighborhoodPricer& pricer, CostModel model) {
  std::vector<Strategy> others;
  if (!has_few_edges(neighborhood)) return others;
  const auto edges = std::int64_t{context.layout.ranks()} * neighborhood.size();
  const auto prices_of = [&](MPI_Comm) {
    std::vector<Pricer> prices;
    for (const auto times : probed_times)
      prices.emplace_back([&pricer, times](std::span<const Strategy> some) { return pricer.by_edges(some, times); });
    return prices;
  };
  share_pricing(context.comm.get(), context.layout, edges, prices_of, [&](std::span<const Pricer> shared) {
    auto strategies = offered_strategies(context.layout, context.machine, model);
    for (auto& strategy : suggest_on_grid(neighborhood, context.layout)) strategies.push_back(std::move(strategy));
    for (const auto& price : shared)
      for (auto& strategy :
           promising_others(rank_suggestions(price, strategies, context.layout, edges), neighborhood, context.layout))
        if (std::ranges::find(others, strategy) == others.end()) others.push_back(std::move(strategy));
  });
  return others;
}

/// The decisions for classes of sizes of blocking calls and then, where ranks may share memory, of planned exchanges.
/// The first class of each begins at 0 bytes. On rank 0.
std::vector<Decision> decide(const Context& context, const NeighborhoodPricer& pricer, const NeighborBytes& unit,
                             const std::vector<Strategy>& others, CostModel model) {
  std::vector<Decision> all;
  const auto add = [&](std::span<const Strategy> considered, std::span<const DataPath> paths, const std::string& call) {
    for (const auto& [from, strategy, predicted_s] : choose_by_size(pricer, considered, paths)) {
      auto& decision = all.emplace_back(Decision{{to_string(strategy), predicted_s}});
      decision.from_bytes = static_cast<double>(from) * mean_of(unit);
      decision.explanation = fmt::format("{} of blocks from {} on: {}, {}\n", call, format_bytes(decision.from_bytes),
                                         decision.strategy, format_seconds(predicted_s));
    }
  };
  const std::string call = unit.is_same ? "allgather" : "alltoall";
  add(others, host_paths, call);
  if (const auto paths = paths_of_host_data(context.layout, context.machine); paths.size() > 1)
    add(on_paths(others, paths, context.machine, model), paths, call + "_init");
  return all;
}

/// The classes of an alltoall, or of an allgather, on every rank. Collective.
void choose_classes(const Context& context, const Neighborhood& neighborhood, bool is_same, CostModel model,
                    CartChoice& choice) {
  const MPI_Comm comm = context.comm.get();
  const auto unit = unit_of(neighborhood, is_same);
  std::optional<NeighborhoodPricer> pricer;
  all_or_none(comm, [&] { pricer.emplace(neighborhood, unit, context.layout, context.machine, model); });
  const auto others = find_others(context, neighborhood, *pricer, model);
  const auto decisions = decided_by_rank_0(comm, [&] { return decide(context, *pricer, unit, others, model); });
  auto CartChoice::Classes::*const of_call = is_same ? &CartChoice::Classes::allgather : &CartChoice::Classes::alltoall;
  all_or_none(comm, [&] {
    auto& planned = choice.planned.*of_call;
    auto& blocking = choice.blocking.*of_call;
    for (const auto& decision : decisions) {
      if (decision.from_bytes == 0) blocking = std::exchange(planned, {});
      planned.push_back({decision.from_bytes, parse_strategy(decision.strategy), decision.predicted_s});
      choice.explanation += decision.explanation;
    }
    if (blocking.empty()) blocking = planned;
  });
}

/// The same without memory of a node.
Strategy by_messages(Strategy strategy) {
  strategy.path.is_shared = false;
  return strategy;
}

/// Tells ranks what they forward. Collective.
void tell(CartChoice& choice, const Context& context, const Neighborhood& neighborhood) {
  std::map<std::string, std::shared_ptr<const ToldTravel>> told;
  auto& [planned, blocking, explanation] = choice;
  for (auto* classes : {&planned.alltoall, &planned.allgather, &blocking.alltoall, &blocking.allgather})
    for (auto& c : *classes) {
      bool is_told = false;
      all_or_none(context.comm.get(),
                  [&] { is_told = !is_way_on_grid(c.strategy) && can_be_told(c.strategy, context.layout); });
      if (!is_told) continue;
      auto& travel = told[to_string(by_messages(c.strategy))];
      if (!travel) travel = std::make_shared<const ToldTravel>(context, neighborhood, c.strategy);
      c.told = travel;
    }
}

CartChoice fixed(const std::string& strategy, const std::string& why, const Layout& layout, const Grid& grid) {
  const auto parsed = parse_host_strategy(strategy);
  make_route(parsed, layout, Pattern{layout.ranks(), {}});  // does it apply?
  if (is_way_on_grid(parsed)) grid_way(parsed, grid);
  const std::vector<CartChoice::Class> planned{{0, parsed, std::nullopt}},
      blocking{{0, by_messages(parsed), std::nullopt}};
  return {{planned, planned}, {blocking, blocking}, fmt::format("{}: {}\n", strategy, why)};
}

}  // namespace

namespace {

/// Rank 0 chooses by prices. Collective.
CartChoice choose_by_prices(const Context& context, const Neighborhood& neighborhood, CostModel model) {
  CartChoice choice;
  for (const bool is_same : {false, true}) choose_classes(context, neighborhood, is_same, model, choice);
  if (!has_few_edges(neighborhood))
    all_or_none(context.comm.get(), [&] {
      choice.explanation +=
          fmt::format("Of more than {} edges ways on the grid alone are considered.\n", most_neighborhood_edges);
    });
  return choice;
}

/// What a strategy leaves to the model (radix=auto), for blocks of some size. Collective.
std::string with_values(const Context& context, const Neighborhood& neighborhood, const CartOptions& options) {
  const MPI_Comm comm = context.comm.get();
  std::string text;
  all_or_none(comm, [&] {
    text = on_grid(options.strategy, neighborhood);
    const auto strategy = parse_host_strategy(text);
    if (!is_automatic(strategy) || context.comm.rank() != 0) return;
    if (!context.unpriced.empty() || !has_few_edges(neighborhood)) {
      text = to_string(unpriced_member(strategy, context.layout));
      return;
    }
    const NeighborhoodPricer pricer(neighborhood, unit_of(neighborhood, false), context.layout, context.machine,
                                    options.model);
    const auto edges = std::int64_t{context.layout.ranks()} * neighborhood.size();
    const Pricer by_edges = [&](std::span<const Strategy> some) { return pricer.by_edges(some, probed_times[1]); };
    text = to_string(rank_family(by_edges, strategy, context.layout, edges).front().strategy);
  });
  return broadcast(comm, text);
}

}  // namespace

CartChoice choose_for_neighborhood(const Context& context, const Neighborhood& neighborhood,
                                   const CartOptions& options) {
  const MPI_Comm comm = context.comm.get();
  CartChoice choice;
  if (!options.strategy.empty()) {
    const auto named = with_values(context, neighborhood, options);
    all_or_none(comm, [&] { choice = fixed(named, "it was named by the caller.", context.layout, neighborhood.grid); });
  } else if (!context.unpriced.empty()) {
    warn_unpriced(context.unpriced, context.comm.rank());
    all_or_none(comm, [&] {
      choice = fixed(unpriced_exchange, "no strategy has a price.", context.layout, neighborhood.grid);
    });
  } else {
    choice = choose_by_prices(context, neighborhood, options.model);
  }
  tell(choice, context, neighborhood);
  return choice;
}

}  // namespace commpass
