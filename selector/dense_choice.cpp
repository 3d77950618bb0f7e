#include "selector/dense_choice.hpp"

#include <algorithm>

#include "model/catalogue.hpp"
#include "model/error.hpp"
#include "selector/offer.hpp"

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

void require_price_of_alltoallv(const Strategy& strategy, const Layout& layout, const Machine& machine, CostModel model) {
  if (model == CostModel::burst && !machine.operations.alltoallv_s && !is_automatic(strategy) && is_run_by_library(*make_route(strategy, layout)))
    throw NotApplicable(to_string(strategy), "profile " + machine.name + " has no operations.alltoallv_s: calibrate");
}

/// The layout and the machine must live as long as the result.
Pricer one_shot_pricer(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model) {
  return [=, &layout, &machine, price = random_pricer({1, 1, static_cast<double>(bytes)}, layout, machine, model, {})](std::span<const Strategy> strategies) {
    auto candidates = price(strategies);
    for (auto& candidate : candidates) add_telling(candidate, layout, machine, model);
    return candidates;
  };
}

}  // namespace

std::vector<Candidate> rank_one_shot(Bytes bytes, const Layout& layout, const Machine& machine, CostModel model, std::span<const Strategy> strategies) {
  for (const auto& strategy : strategies) require_price_of_alltoallv(strategy, layout, machine, model);
  const auto own = with_alltoallv_of_library(machine);
  // Sizes are told even if all of them are 0.
  const auto price = one_shot_pricer(std::max<Bytes>(1, bytes), layout, own, model);
  if (!strategies.empty()) return rank_given(price, strategies, layout, layout.ranks());
  return rank_suggestions(leave_out_open_forms(price), offered_strategies(layout, own, model), layout, layout.ranks());
}

Candidate price_one_shot(const Strategy& strategy, Bytes bytes, const Layout& layout, const Machine& machine, CostModel model) {
  return rank_one_shot(bytes, layout, machine, model, std::span(&strategy, 1)).front();
}

}  // namespace commpass
