#include "selector/choose/library_price.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace commpass {

namespace {

void add_seconds(Cost& cost, Seconds seconds, CostPart part) {
  cost.seconds = comparable(cost.seconds + seconds);
  if (cost.stages.empty()) return;
  cost.stages.back().seconds += seconds;
  cost.stages.back().parts[static_cast<std::size_t>(part)] += seconds;
}

/// MPI_Alltoallv visits each rank. Those that exchange a message are priced by it.
Seconds visiting_seconds(const LibraryExchange& exchange, const LibraryAlgorithm& algorithm, const Layout& layout,
                         const Machine& machine) {
  const auto& visit_s = machine.operations.alltoallv_rank_s;
  if (exchange.function != LibraryFunction::alltoallv || (algorithm.exchanges_nothing && !visit_s)) return 0;
  return std::max(0.0, layout.ranks() - 1 - exchange.messages_of_rank) * visit_s.value_or(default_alltoallv_rank_s);
}

/// @param unlimited  the machine without limits
Candidate price_algorithm(const LibraryAlgorithm& algorithm, const Strategy& mpi, const PricerOn& price_on,
                          const LibraryExchange& exchange, const Layout& layout, const Machine& machine,
                          const Machine& unlimited) {
  auto strategy = algorithm.strategy;
  strategy.path = mpi.path;
  auto candidate = price_on(unlimited, &algorithm)(std::span(&strategy, 1)).front();
  candidate.strategy = mpi;
  candidate.exceeded_limit =
      candidate.demand ? exceeded_limit(machine.limits, *candidate.demand, candidate.buffered_bytes_max) : nullptr;
  if (candidate.plan_seconds) candidate.plan_seconds = 0;  // the call needs no plan
  for (auto& stage : candidate.cost.stages) stage.label += ", by the MPI library";
  if (algorithm.turns_blocks())
    add_seconds(candidate.cost, turning_seconds(exchange.block_bytes, layout, machine), CostPart::copying);
  add_seconds(candidate.cost, visiting_seconds(exchange, algorithm, layout, machine), CostPart::library);
  candidate.library = algorithm;
  return candidate;
}

}  // namespace

LibraryExchange library_exchange(const RandomPattern& blocks, const Layout& layout, BlockSizes sizes) {
  const double mates = layout.max_ppn() - 1, others = layout.ranks() - layout.max_ppn();
  return {sizes == BlockSizes::equal ? LibraryFunction::alltoall : LibraryFunction::alltoallv, blocks.block_bytes,
          blocks.density_on_node * mates + blocks.density_off_node * others};
}

LibraryExchange library_exchange(const Pattern& pattern) {
  const auto ranks = static_cast<std::size_t>(pattern.ranks);
  const auto pairs = ranks * (ranks - 1);
  if (pattern.edges.size() < pairs) return {LibraryFunction::neighbor_alltoallv, 0, 0};
  std::vector<const Edge*> edges;
  for (const auto& edge : pattern.edges)
    if (edge.source != edge.destination) edges.push_back(&edge);
  const bool are_equal = !edges.empty() && std::ranges::all_of(edges, [&](const Edge* edge) {
    return edge->bytes == edges.front()->bytes && edge->payload == no_payload;
  });
  if (!are_equal || edges.size() != pairs) return {LibraryFunction::neighbor_alltoallv, 0, 0};
  std::ranges::sort(edges, {}, [](const Edge* edge) { return std::pair(edge->source, edge->destination); });
  const auto twice = std::ranges::adjacent_find(
      edges, {}, [](const Edge* edge) { return std::pair(edge->source, edge->destination); });
  if (twice != edges.end()) return {LibraryFunction::neighbor_alltoallv, 0, 0};
  return {LibraryFunction::alltoall, static_cast<double>(edges.front()->bytes), static_cast<double>(ranks - 1)};
}

Machine without_limits(Machine machine) {
  machine.limits = {.messages_off_node = std::numeric_limits<int>::max()};
  return machine;
}

LibraryAlgorithm library_algorithm(const LibraryExchange& exchange, const Layout& layout, const Machine& machine) {
  return library_algorithm(machine.mpi_library, exchange.function, layout.ranks(), exchange.block_bytes);
}

Seconds turning_seconds(double block_bytes, const Layout& layout, const Machine& machine) {
  const double ranks = layout.ranks(), bytes = ranks * block_bytes;
  return copying_seconds(machine, bytes, 2) + copying_seconds(machine, bytes, ranks);
}

std::vector<Candidate> price_algorithms(std::span<const LibraryAlgorithm> algorithms, double block_bytes,
                                        const Layout& layout, const Machine& machine) {
  const RandomPattern blocks{1, 1, block_bytes};
  const auto unlimited = without_limits(machine);
  const PricerOn price_on = [&](const Machine& on, const LibraryAlgorithm*) {
    return random_pricer(blocks, layout, on, CostModel::burst, {}, Usage::once);
  };
  const auto exchange = library_exchange(blocks, layout, BlockSizes::equal);
  std::vector<Candidate> candidates;
  for (const auto& algorithm : algorithms)
    candidates.push_back(
        price_algorithm(algorithm, parse_strategy("mpi"), price_on, exchange, layout, machine, unlimited));
  return candidates;
}

bool is_measured(const LibraryExchange& exchange, const Machine& machine, Usage usage) {
  return (usage == Usage::planned || exchange.function == LibraryFunction::alltoallv) &&
         library_call(machine.operations, usage).call_s;
}

Pricer with_library_price(const PricerOn& price_on, const LibraryExchange& exchange, const Layout& layout,
                          const Machine& machine, CostModel model, Usage usage) {
  auto own = price_on(machine, nullptr);
  if (model != CostModel::burst || is_measured(exchange, machine, usage)) return own;
  const auto unlimited = std::make_shared<const Machine>(without_limits(machine));
  return [=, &layout, &machine](std::span<const Strategy> strategies) {
    const auto is_mpi = [](const Strategy& strategy) { return strategy.route == "mpi"; };
    if (std::ranges::none_of(strategies, is_mpi)) return own(strategies);
    std::vector<Strategy> others;
    std::ranges::remove_copy_if(strategies, std::back_inserter(others), is_mpi);
    auto priced = others.empty() ? std::vector<Candidate>() : own(others);
    std::vector<Candidate> candidates;
    auto next = priced.begin();
    for (const auto& strategy : strategies)
      candidates.push_back(is_mpi(strategy) ? price_algorithm(library_algorithm(exchange, layout, machine), strategy,
                                                              price_on, exchange, layout, machine, *unlimited)
                                            : std::move(*next++));
    return candidates;
  };
}

}  // namespace commpass
