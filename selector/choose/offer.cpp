#include "selector/choose/offer.hpp"

#include "model/error.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

std::string lacking(const Strategy& strategy, const Machine& machine, CostModel model, Usage usage) {
  const auto lacks = catalogue_row(strategy.route).lacks;
  return lacks && model == CostModel::burst ? lacks(machine, usage) : std::string();
}

std::string lacking(const SparseStrategy& strategy, const Machine& machine) {
  // Free puts would win wherever messages are small.
  if (strategy.discovery != Discovery::rma || machine.operations.put_s) return {};
  return "profile " + machine.name + " has no operations.put_s: calibrate where the MPI library has windows";
}

void require_price(const Strategy& strategy, const Machine& machine, CostModel model, Usage usage) {
  if (const auto reason = lacking(strategy, machine, model, usage); !reason.empty())
    throw NotApplicable(to_string(strategy), reason);
}

std::vector<Strategy> offered_strategies(const Layout& layout, const Machine& machine, CostModel model, Usage usage) {
  auto strategies = suggest_strategies(layout);
  std::erase_if(strategies, [&](const Strategy& strategy) {
    const auto lacks = catalogue_row(strategy.route).lacks;
    return lacks && (model != CostModel::burst || !lacks(machine, usage).empty());
  });
  return strategies;
}

}  // namespace commpass
