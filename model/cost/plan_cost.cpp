#include "model/cost/plan_cost.hpp"

#include <bit>
#include <limits>

#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

// The small collectives of make_plan (runtime/plan/plan.cpp) in a stage besides that which counts headers, and in all
// besides the stages; those of neighbor_exchange (communicator.cpp) around it; and those by which it gathers and shares
// traffic (gather_pattern.cpp).
constexpr int agreements_in_stage = 2, more_if_staggered = 1, of_plan = 2, around_plan = 6, of_tables = 10;

/// Headers are not copied by a rule that has a price.
Machine without_copies(Machine machine) {
  machine.copy_rate_bytes_per_s = std::numeric_limits<double>::infinity();
  machine.copy_block_s = 0;
  return machine;
}

Locality farthest(const Layout& layout) {
  if (layout.nodes() > 1) return Locality::network;
  return layout.sockets() > 1 ? Locality::node : Locality::socket;
}

/// That tells every rank how many headers come to it: an int for every rank passes through each.
Seconds count_seconds(const Layout& layout, const Machine& machine) {
  if (layout.ranks() == 1) return 0;
  const auto bytes = static_cast<Bytes>(sizeof(int)) * layout.ranks();
  return small_collective_seconds(layout, machine) +
         host_channel(machine, farthest(layout)).protocol(bytes).beta_s_per_byte * static_cast<double>(bytes);
}

Seconds all_collectives(std::size_t stages, bool is_staggered, bool needs_tables, const Layout& layout,
                        const Machine& machine) {
  const int in_stage = agreements_in_stage + (is_staggered ? more_if_staggered : 0),
            besides = of_plan + around_plan + (needs_tables ? of_tables : 0);
  const auto count = static_cast<double>(stages);
  return (count * in_stage + besides) * small_collective_seconds(layout, machine) +
         count * count_seconds(layout, machine);
}

}  // namespace

Seconds small_collective_seconds(const Layout& layout, const Machine& machine) {
  if (layout.ranks() == 1) return 0;
  if (const auto& measured_s = machine.operations.allreduce_s)
    return collective_seconds(machine.operations, *measured_s, layout.ranks());
  const auto steps = std::bit_width(static_cast<unsigned>(layout.ranks() - 1));
  return host_channel(machine, farthest(layout)).protocol(sizeof(int)).alpha_s * steps;
}

Seconds plan_seconds(Schedule schedule, const Strategy& strategy, const Layout& layout, const Machine& machine,
                     CostModel model) {
  for (auto& stage : schedule.stages)
    for (auto& message : stage.messages) {
      message.bytes = static_cast<Bytes>(message.blocks * sizeof(Block));
      message.batch = 0;
    }
  const auto headers = evaluate(schedule, layout, without_copies(machine), model).seconds;
  return headers + all_collectives(schedule.stages.size(), strategy.coalescing == Coalescing::staggered,
                                   pattern_need(strategy) != PatternNeed::nothing, layout, machine);
}

Seconds estimate_plan_seconds(RandomPattern pattern, const Route& route, const Layout& layout, const Machine& machine,
                              CostModel model) {
  pattern.block_bytes = sizeof(Block);
  const auto headers = estimate(pattern, route, {}, layout, without_copies(machine), model).seconds;
  return headers + all_collectives(route.stages().size(), false, false, layout, machine);
}

}  // namespace commpass
