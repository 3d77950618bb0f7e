#include "selector/dense_choice.hpp"

#include <algorithm>

#include "model/catalogue.hpp"
#include "model/error.hpp"

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

/// What is left to the MPI library costs what its MPI_Alltoallv does.
Machine with_alltoallv_of_library(Machine machine) {
  auto& operations = machine.operations;
  operations.neighbor_alltoall_s = operations.alltoallv_s;
  operations.neighbor_alltoall_message_s = operations.alltoallv_message_s;
  return machine;
}

void require_price(const Strategy& strategy, const Layout& layout, const Machine& machine, CostModel model) {
  if (model == CostModel::burst && !machine.operations.alltoallv_s && is_run_by_library(*make_route(strategy, layout)))
    throw NotApplicable(to_string(strategy), "profile " + machine.name + " has no operations.alltoallv_s: calibrate");
}

}  // namespace

std::vector<Candidate> rank_one_shot(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model, std::span<const Strategy> strategies) {
  for (const auto& strategy : strategies) require_price(strategy, layout, machine, model);
  auto ranking = rank_alltoall(bytes, layout, with_alltoallv_of_library(machine), model, strategies);
  for (auto& candidate : ranking) add_telling(candidate, layout, machine, model);
  std::ranges::stable_sort(ranking, {}, [](const Candidate& c) { return c.cost.seconds; });
  return ranking;
}

Candidate price_one_shot(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine, CostModel model) {
  require_price(strategy, layout, machine, model);
  auto candidate = price_alltoall(strategy, bytes, layout, with_alltoallv_of_library(machine), model);
  add_telling(candidate, layout, machine, model);
  return candidate;
}

}  // namespace commpass
