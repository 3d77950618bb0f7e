#include "selector/dense_choice.hpp"

#include <algorithm>

#include "model/catalogue.hpp"

namespace commpass {

namespace {

/// Adds the time in which sizes are told; those of all rounds of a stage go at once.
void add_telling(Candidate& candidate, const Layout& layout, const Machine& machine, CostModel model) {
  constexpr Bytes size_bytes = 8;
  auto& cost = candidate.cost;
  if (cost.stages.size() < 2) return;
  auto telling = candidate.strategy;
  telling.window = {};
  const auto sizes = price_alltoall(telling, size_bytes, layout, machine, model).cost;
  for (std::size_t stage = 0; stage + 1 < sizes.stages.size(); ++stage) cost.seconds += sizes.stages[stage].seconds;
}

}  // namespace

std::vector<Candidate> rank_one_shot(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model, std::span<const Strategy> strategies) {
  auto ranking = rank_alltoall(bytes, layout, machine, model, strategies);
  // The library's neighbourhood collective wants to know its neighbours before.
  std::erase_if(ranking, [&](const Candidate& c) { return is_run_by_library(*make_route(c.strategy, layout)); });
  for (auto& candidate : ranking) add_telling(candidate, layout, machine, model);
  std::ranges::stable_sort(ranking, {}, [](const Candidate& c) { return c.cost.seconds; });
  return ranking;
}

Candidate price_one_shot(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine, CostModel model) {
  auto candidate = price_alltoall(strategy, bytes, layout, machine, model);
  add_telling(candidate, layout, machine, model);
  return candidate;
}

}  // namespace commpass
