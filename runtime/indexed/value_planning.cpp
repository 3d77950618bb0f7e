#include "runtime/indexed/value_planning.hpp"

#include <array>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/cost/value_loops.hpp"
#include "model/route/strategy.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/context.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/indexed/value_groups.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/planned_exchanges.hpp"
#include "runtime/sparse/sparse_engine.hpp"

namespace commpass {

namespace {

enum class Loop { copying, adding };

Seconds loop_seconds(const Machine& machine, const ValueRuns& runs, Bytes value_bytes, Loop loop) {
  std::int64_t values = 0;
  for (const auto& run : runs) values += run.count;
  const auto count = static_cast<double>(std::ssize(runs)), bytes = static_cast<double>(values * value_bytes);
  return loop == Loop::adding ? reduction_loop_seconds(machine, count, bytes)
                              : value_loop_seconds(machine, count, bytes);
}

/// What the loops over values take on the slowest ranks: before messages leave, and when they have come. Collective.
/// @param delivery  adding: values that come are added to those of the user
Seconds longest_loops(const Context& context, const ValueWays& ways, Bytes value_bytes, Loop delivery) {
  const auto of = [&](const ValueRuns& runs, Loop loop) {
    return loop_seconds(context.machine, runs, value_bytes, loop);
  };
  const std::array mine{of(ways.gather, Loop::copying) + of(ways.gather_more, Loop::adding),
                        of(ways.deliver, delivery)};
  auto longest = mine;
  COMMPASS_MPI_CALL(MPI_Allreduce, mine.data(), longest.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX,
                    context.comm.get());
  return longest.front() + longest.back();
}

/// How values travel: to the ranks that need them; back, each contribution to its owner; or back by the edges of the
/// way there, which are run backwards, and added where they meet.
enum class Travel { there, back, there_backwards };

std::unique_ptr<Direction> plan_direction(const std::shared_ptr<Context>& context, ValueWiring wiring,
                                          Bytes value_bytes, void* bound, const IndexedOptions& options,
                                          Travel travel) {
  auto way = std::make_unique<Direction>();
  Failure failure;
  attempt(failure, [&] {
    const auto buffer = [&](std::int64_t values) {
      way->buffer_bytes += values * value_bytes;
      return std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(values * value_bytes));
    };
    if (!options.strategy.empty() && parse_strategy(options.strategy).path.kind == DataPath::Kind::device)
      throw InputError("indexed exchange",
                       "its strategy is " + options.strategy + ", and values are gathered in host memory",
                       "use @staged, or name no path");
    way->is_in_place = bound != nullptr && !device_of(bound) && receive_in_place(wiring, value_bytes);
    way->summation.value_bytes = value_bytes;
    way->send = buffer(wiring.sent_values);
    if (!way->is_in_place) way->receive = buffer(wiring.received_values);
  });
  void* const receive = way->is_in_place ? bound : way->receive.get();
  way->exchange = plan_exchange(context, way->send.get(), wiring.sends, receive, wiring.receives,
                                {.strategy = options.strategy, .model = options.model, .are_values = true}, failure,
                                travel == Travel::there_backwards ? &way->summation : nullptr);
  way->buffer_bytes += way->exchange->buffer_bytes();
  way->ways.gather = std::move(wiring.gather);
  way->ways.gather_more = std::move(wiring.gather_more);
  way->ways.deliver = std::move(wiring.deliver);
  way->loops_s =
      longest_loops(*context, way->ways, value_bytes, travel == Travel::there ? Loop::copying : Loop::adding);
  return way;
}

/// By measured times, if both have one; else by predictions. Both are the same on every rank.
bool is_faster(const Direction& one, const Direction& other) {
  if (one.measured_seconds() && other.measured_seconds()) return one.measured_seconds() < other.measured_seconds();
  return one.predicted_seconds() < other.predicted_seconds();
}

/// Does any rank share values, and have all together few enough edges to be gathered? Else the choice would be by
/// statistics, which know no shared values. Collective.
bool are_worth_a_price(MPI_Comm comm, std::span<const ValueGroup> groups, const ValueRequests& requests,
                       const IndexedOptions& options) {
  enum Count { sharing, edges, count_end };
  std::array<std::int64_t, count_end> counts{groups.empty() ? 0 : 1, std::ssize(requests.to_this_rank)};
  for (const auto& group : groups) counts[edges] += std::ssize(group.readers);
  COMMPASS_MPI_CALL(MPI_Allreduce, MPI_IN_PLACE, counts.data(), count_end, MPI_INT64_T, MPI_SUM, comm);
  return counts[sharing] > 0 && (options.share || counts[edges] <= ExchangeOptions{}.most_edges_gathered);
}

/// Plans a direction with values that several ranks need as edges with the same bytes, without them, or both to leave
/// the faster one. Collective.
/// @param is_shareable  are there such values?
/// @param plan          plans it, shared or not
template <class Plan>
Way plan_faster(const Context& context, bool is_shareable, Plan plan, const IndexedOptions& options) {
  Way shared;
  if (is_shareable) {
    shared = {plan(true), true};
    const auto& exchange = *shared.planned->exchange;
    const bool is_unpriced =
        !context.unpriced.empty() && exchange.strategy() == unpriced_exchange;  // which takes nothing together
    if (options.share || (!exchange.predicted_seconds() && !exchange.measured_seconds() && !is_unpriced)) return shared;
  }
  Way plain{plan(false), false};
  return is_shareable && is_faster(*shared.planned, *plain.planned) ? std::move(shared) : std::move(plain);
}

}  // namespace

std::optional<ValueWiring> wire_shared(SparseEngine& engine, const ValueRequests& requests, Bytes value_bytes,
                                       const IndexedOptions& options) {
  const auto& context = *engine.context();
  const MPI_Comm comm = context.comm.get();
  std::vector<ValueGroup> groups;
  all_or_none(comm, [&] {
    if (options.share.value_or(true)) groups = group_values(requests.to_this_rank);
    if (!options.share)
      keep_worthwhile(groups, requests.to_this_rank, rank_in(comm), value_bytes, context.layout, context.machine);
  });
  if (!are_worth_a_price(comm, groups, requests, options)) return std::nullopt;
  return shared_wiring(engine, requests, groups, value_bytes, options.discovery);
}

Way plan_forward(const std::shared_ptr<Context>& context, const ValueRequests& requests,
                 const std::optional<ValueWiring>& shared, Bytes value_bytes, const IndexedOptions& options) {
  const auto plan = [&](bool is_shared) {
    ValueWiring wiring;
    all_or_none(context->comm.get(), [&] { wiring = is_shared ? *shared : forward_wiring(requests, value_bytes); });
    return plan_direction(context, std::move(wiring), value_bytes, options.ghost_values, options, Travel::there);
  };
  return plan_faster(*context, shared.has_value(), plan, options);
}

Way plan_back(const std::shared_ptr<Context>& context, const ValueRequests& requests,
              const std::optional<ValueWiring>& shared, Bytes value_bytes, const IndexedOptions& options) {
  const auto plan = [&](bool is_shared) {
    ValueWiring wiring;
    all_or_none(context->comm.get(),
                [&] { wiring = is_shared ? back_wiring(*shared) : reverse_wiring(requests, value_bytes); });
    return plan_direction(context, std::move(wiring), value_bytes, nullptr, options,
                          is_shared ? Travel::there_backwards : Travel::back);
  };
  return plan_faster(*context, shared.has_value() && !options.deterministic, plan, options);
}

}  // namespace commpass
