#include "model/cost/plan_cost.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "model/cost/models.hpp"
#include "model/route/catalogue.hpp"

namespace commpass {

namespace {

Seconds seconds_of(const PlanCollectives& collectives, const Layout& layout, const Machine& machine) {
  if (layout.ranks() == 1) return 0;
  // All that is counted passes through each rank.
  const auto bytes = static_cast<Bytes>(sizeof(int)) * collectives.counted_ints * layout.ranks();
  const auto bytes_s =
      host_channel(machine, layout.on(machine).farthest()).protocol(bytes).beta_s_per_byte * static_cast<double>(bytes);
  return (collectives.small + collectives.counting) * small_collective_seconds(layout, machine) +
         collectives.counting * bytes_s;
}

}  // namespace

PlanCollectives plan_collectives(std::span<const StageInfo> stages, Coalescing coalescing, bool needs_tables) {
  // That no rank has failed, all name the same strategy, and edges match (open_planning); after headers, that no rank
  // has failed. For tables of the traffic (share_tables) and one opening more; for the MPI library's collective
  // (LibraryRequests) a communicator is made.
  constexpr int opening = 1, after_headers = 1, of_tables = 17, by_library = 1;
  PlanCollectives result{.small = opening};
  if (needs_tables) result.small += of_tables + opening;
  if (std::ranges::any_of(stages, &StageInfo::by_library)) result.small += by_library;
  if (edges_tell_all(stages.size(), coalescing)) return result;
  result.small += after_headers;
  result.counting = static_cast<int>(stages.size());
  if (coalescing == Coalescing::staggered) result.counted_ints = 2;  // and the most blocks of a message
  return result;
}

Seconds small_collective_seconds(const Layout& layout, const Machine& machine) {
  if (layout.ranks() == 1) return 0;
  if (const auto& measured_s = machine.operations.allreduce_s)
    return collective_seconds(machine.operations, *measured_s, layout.ranks());
  const auto steps = std::bit_width(static_cast<unsigned>(layout.ranks() - 1));
  return host_channel(machine, layout.on(machine).farthest()).protocol(sizeof(int)).alpha_s * steps;
}

Seconds plan_seconds(Schedule schedule, const Strategy& strategy, const Layout& layout, const Machine& machine,
                     CostModel model) {
  std::vector<StageInfo> stages;
  for (auto& stage : schedule.stages) {
    stages.push_back(stage.info);
    for (auto& message : stage.messages) {
      message.bytes = static_cast<Bytes>(message.blocks * sizeof(Block));
      message.batch = 0;
    }
  }
  const bool needs_tables = pattern_need(strategy) != PatternNeed::nothing;
  const auto collectives = seconds_of(plan_collectives(stages, strategy.coalescing, needs_tables), layout, machine);
  if (edges_tell_all(stages.size(), strategy.coalescing)) return collectives;
  return collectives + evaluate(schedule, layout, without_copies(machine), model).seconds;
}

Seconds estimate_plan_seconds(RandomPattern pattern, const Route& route, const Layout& layout, const Machine& machine,
                              CostModel model) {
  constexpr auto coalescing = Coalescing::coalesced;  // staggered strategies have no closed form, nor those with tables
  const auto collectives = seconds_of(plan_collectives(route.stages(), coalescing, false), layout, machine);
  if (edges_tell_all(route.stages().size(), coalescing)) return collectives;
  pattern.block_bytes = sizeof(Block);
  pattern.size_variance = 0;
  return collectives + estimate(pattern, route, {}, layout, without_copies(machine), model).seconds;
}

Seconds estimate_size_seconds(const Route& route, const Layout& layout, const Machine& machine, CostModel model) {
  constexpr double size_bytes = 8;
  if (route.stages().size() < 2) return 0;
  const auto sizes = estimate({1, 1, size_bytes}, route, {}, layout, without_copies(machine), model);
  Seconds seconds = 0;
  for (std::size_t stage = 0; stage + 1 < sizes.stages.size(); ++stage) seconds += sizes.stages[stage].seconds;
  return seconds;
}

}  // namespace commpass
