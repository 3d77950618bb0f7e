#include "runtime/indexed/indexed_exchange.hpp"

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "model/cost/value_loops.hpp"
#include "model/route/strategy.hpp"
#include "runtime/choose/decision.hpp"
#include "runtime/context.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/indexed/staged_values.hpp"
#include "runtime/indexed/summing_requests.hpp"
#include "runtime/indexed/value_groups.hpp"
#include "runtime/indexed/value_requests.hpp"
#include "runtime/indexed/value_wiring.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/mpi/ranks.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/planned_exchanges.hpp"
#include "runtime/sparse/sparse_engine.hpp"

namespace commpass {

namespace {

/// Values from their owners to those that need them, or back: planned.
struct Direction {
  ValueWays ways;                        ///< of the user's arrays
  std::unique_ptr<StagedValues> staged;  ///< of the last arrays that lay on a device
  bool is_on_device = false;             ///< do those in flight?
  std::unique_ptr<std::byte[]> send, receive;
  bool is_in_place = false;  ///< received in the user's array; then `receive` is null
  Bytes buffer_bytes = 0;
  Seconds loops_s = 0;               ///< predicted: of the longest loops before and after it
  Summation summation;               ///< of the last values that were added
  std::optional<Exchange> exchange;  ///< last, so that it goes first

  /// With its loops.
  std::optional<Seconds> with_loops(std::optional<Seconds> seconds) const {
    return seconds ? std::optional(*seconds + loops_s) : std::nullopt;
  }
  std::optional<Seconds> predicted_seconds() const { return with_loops(exchange->predicted_seconds()); }
  std::optional<Seconds> measured_seconds() const { return with_loops(exchange->measured_seconds()); }
};

Seconds loop_seconds(const Machine& machine, const ValueRuns& runs, Bytes value_bytes) {
  std::int64_t values = 0;
  for (const auto& run : runs) values += run.count;
  return value_loop_seconds(machine, static_cast<double>(std::ssize(runs)), static_cast<double>(values * value_bytes));
}

/// What the loops over values take on the slowest ranks: before messages leave, and when they have come. Collective.
Seconds longest_loops(const Context& context, const ValueWays& ways, Bytes value_bytes) {
  const auto of = [&](const ValueRuns& runs) { return loop_seconds(context.machine, runs, value_bytes); };
  const std::array mine{of(ways.gather) + of(ways.gather_more), of(ways.deliver)};
  auto longest = mine;
  COMMPASS_MPI_CALL(MPI_Allreduce, mine.data(), longest.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX,
                    context.comm.get());
  return longest.front() + longest.back();
}

/// @param are_edges_of_the_way_there  are the edges run backwards, and values added where they meet?
std::unique_ptr<Direction> plan_direction(const std::shared_ptr<Context>& context, ValueWiring wiring,
                                          Bytes value_bytes, void* bound, const IndexedOptions& options,
                                          bool are_edges_of_the_way_there = false) {
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
                                are_edges_of_the_way_there ? &way->summation : nullptr);
  way->buffer_bytes += way->exchange->buffer_bytes();
  way->ways = {std::move(wiring.gather), std::move(wiring.gather_more), {}, std::move(wiring.deliver)};
  way->loops_s = longest_loops(*context, way->ways, value_bytes);
  return way;
}

/// One direction, as it was chosen.
struct Way {
  std::unique_ptr<Direction> planned;
  bool is_shared = false;
};

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

/// Edges of the values that several ranks need, if any are worth a plan. Collective.
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

Way plan_forward(const std::shared_ptr<Context>& context, const ValueRequests& requests,
                 const std::optional<ValueWiring>& shared, Bytes value_bytes, const IndexedOptions& options) {
  const auto plan = [&](bool is_shared) {
    ValueWiring wiring;
    all_or_none(context->comm.get(), [&] { wiring = is_shared ? *shared : forward_wiring(requests, value_bytes); });
    return plan_direction(context, std::move(wiring), value_bytes, options.ghost_values, options);
  };
  return plan_faster(*context, shared.has_value(), plan, options);
}

/// Shared: the way there is run backwards. Else each contribution travels to its owner.
Way plan_back(const std::shared_ptr<Context>& context, const ValueRequests& requests,
              const std::optional<ValueWiring>& shared, Bytes value_bytes, const IndexedOptions& options) {
  const auto plan = [&](bool is_shared) {
    ValueWiring wiring;
    all_or_none(context->comm.get(),
                [&] { wiring = is_shared ? back_wiring(*shared) : reverse_wiring(requests, value_bytes); });
    return plan_direction(context, std::move(wiring), value_bytes, nullptr, options, is_shared);
  };
  return plan_faster(*context, shared.has_value() && !options.deterministic, plan, options);
}

/// The size of a value and the options, of rank 0.
IndexedOptions agreed_options(MPI_Comm comm, Bytes value_bytes, IndexedOptions options) {
  struct Agreed {
    Bytes value_bytes;
    CostModel model;
    bool reverse, deterministic;
    std::optional<bool> share;
  } agreed{value_bytes, options.model, options.reverse, options.deterministic, options.share};
  static_assert(std::is_trivially_copyable_v<Agreed>);
  COMMPASS_MPI_CALL(MPI_Bcast, &agreed, static_cast<int>(sizeof agreed), MPI_BYTE, 0, comm);
  all_or_none(comm, [&] {
    if (value_bytes < 1)
      throw InputError("indexed exchange", fmt::format("a value has {} bytes", value_bytes), "use 1 or more");
    if (value_bytes != agreed.value_bytes)
      throw InputError("indexed exchange",
                       fmt::format("a value has {} bytes, and {} on rank 0", value_bytes, agreed.value_bytes),
                       "use the same on every rank");
  });
  options.model = agreed.model;
  options.reverse = agreed.reverse;
  options.share = agreed.share;
  // Owners are sought once for each plan.
  options.discovery.planner = PlannerMode::estimate;
  options.discovery.planner_seconds.reset();
  return options;
}

}  // namespace

struct IndexedExchange::State {
  Bytes value_bytes = 0, received_bytes = 0;
  const void* bound = nullptr;  ///< to which forward's ghost values are bound, if to any
  bool shares_values = false, adds_on_the_way = false;
  DeviceBackend::Stream users = nullptr;  ///< the user's stream
  std::string explanation;
  std::unique_ptr<Direction> forward, back;

  Direction* in_flight = nullptr;  ///< one of the two
  void* target = nullptr;          ///< of the exchange in flight: the user's array, or its copy

  void check_idle() const {
    if (in_flight) throw Error("indexed exchange: it was started twice; call wait before the next start.");
  }

  /// How values move and where they are taken from and put, in one direction.
  struct Arrays {
    const ValueWays& ways;
    const void* from;
    void* to;
  };
  /// Those of an exchange that begins. Arrays on devices are copied to host memory.
  Arrays begin(Direction& way, const void* from, void* to) const {
    const StagedValues::Place place{device_of(from), device_of(to), users};
    way.is_on_device = place.from || place.to;
    if (!way.is_on_device) return {way.ways, from, to};
    if (!way.staged || way.staged->place() != place)
      way.staged = std::make_unique<StagedValues>(way.ways, value_bytes, place, &way == back.get());
    way.staged->take(from, to);
    return {way.staged->ways(), way.staged->from(), way.staged->to()};
  }
};

IndexedExchange plan_indexed_exchange(SparseEngine& engine, const OwnedBy& owned, std::span<const Index> needed,
                                      Bytes value_bytes, const IndexedOptions& options) {
  const auto& context = engine.context();
  const MPI_Comm comm = context->comm.get();
  assemble(comm);
  const auto agreed = agreed_options(comm, value_bytes, options);
  std::optional<OwnedIndices> indices;
  all_or_none(comm, [&] { std::visit([&](const auto& given) { indices.emplace(given); }, owned); });
  const auto requests = request_values(engine, *indices, needed, agreed.discovery);

  auto state = std::make_unique<IndexedExchange::State>();
  const auto shared = wire_shared(engine, requests, value_bytes, agreed);
  auto forward = plan_forward(context, requests, shared, value_bytes, agreed);
  Way back;
  if (agreed.reverse) back = plan_back(context, requests, shared, value_bytes, agreed);
  all_or_none(comm, [&] {
    state->value_bytes = value_bytes;
    state->received_bytes = requests.slots * value_bytes;
    state->bound = agreed.ghost_values;
    state->shares_values = forward.is_shared;
    state->adds_on_the_way = back.is_shared;
    state->explanation = forward.planned->exchange->explanation();
    if (forward.planned->exchange->predicted_seconds())
      state->explanation += fmt::format("Loops over values before and after it are predicted to take {} more.\n",
                                        format_seconds(forward.planned->loops_s));
    if (forward.is_shared)
      state->explanation += "Values that several ranks need travel once as far as they go together.\n";
    if (back.planned)
      state->explanation += fmt::format("The way back: {}, and contributions to a value are added {}.\n",
                                        back.planned->exchange->strategy(),
                                        back.is_shared ? "where they meet" : "by its owner in the order of ranks");
    state->users = context->stream;
    if (back.planned) back.planned->ways.own = reversed(requests.own);
    forward.planned->ways.own = requests.own;
    state->forward = std::move(forward.planned);
    state->back = std::move(back.planned);
  });
  return IndexedExchange(std::move(state));
}

IndexedExchange::IndexedExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}

void IndexedExchange::start_forward(const void* owned_values, void* ghost_values) {
  auto& s = *state_;
  s.check_idle();
  if (s.bound && ghost_values != s.bound)
    throw Error("indexed exchange: the ghost values are bound to another array; give that one.");
  const auto [ways, from, to] = s.begin(*s.forward, owned_values, ghost_values);
  copy_values(ways.gather, s.value_bytes, from, s.forward->send.get());
  s.forward->exchange->start();
  copy_values(ways.own, s.value_bytes, from, to);  // while the first messages travel
  s.target = to;
  s.in_flight = s.forward.get();
}

void IndexedExchange::start_reverse_add(const void* ghost_values, void* owned_values, Addition add) {
  auto& s = *state_;
  s.check_idle();
  if (!s.back) throw Error("indexed exchange: the way back was not planned; set IndexedOptions::reverse.");
  const auto [ways, from, to] = s.begin(*s.back, ghost_values, owned_values);
  copy_values(ways.gather, s.value_bytes, from, s.back->send.get());
  add_values(ways.gather_more, s.value_bytes, from, s.back->send.get(), add);
  s.back->summation.add = std::move(add);
  s.back->exchange->start();
  add_values(ways.own, s.value_bytes, from, to, s.back->summation.add);
  s.target = to;
  s.in_flight = s.back.get();
}

bool IndexedExchange::test() {
  if (!state_->in_flight) return true;
  if (!state_->in_flight->exchange->test()) return false;
  finish();
  return true;
}

void IndexedExchange::wait() {
  if (!state_->in_flight) return;
  state_->in_flight->exchange->wait();
  finish();
}

void IndexedExchange::finish() {
  auto& s = *state_;
  const auto& way = *s.in_flight;
  s.in_flight = nullptr;
  const auto& deliver = (way.is_on_device ? way.staged->ways() : way.ways).deliver;
  if (&way == s.forward.get())
    copy_values(deliver, s.value_bytes, way.is_in_place ? s.target : way.receive.get(), s.target);
  else add_values(deliver, s.value_bytes, way.receive.get(), s.target, way.summation.add);
  if (way.is_on_device) way.staged->give_back();
}

std::int64_t IndexedExchange::numbers_in_a_value(std::size_t number_bytes) const {
  const auto bytes = static_cast<Bytes>(number_bytes);
  if (state_->value_bytes % bytes != 0)
    throw InputError("indexed exchange",
                     fmt::format("a value of {} bytes is no whole number of numbers of {}", state_->value_bytes, bytes),
                     "add values of the planned size");
  return state_->value_bytes / bytes;
}

const std::string& IndexedExchange::strategy() const { return state_->forward->exchange->strategy(); }
std::optional<Seconds> IndexedExchange::predicted_seconds() const { return state_->forward->predicted_seconds(); }
const std::string& IndexedExchange::explanation() const { return state_->explanation; }
bool IndexedExchange::shares_values() const { return state_->shares_values; }
bool IndexedExchange::adds_on_the_way() const { return state_->adds_on_the_way; }
std::string IndexedExchange::reverse_strategy() const {
  return state_->back ? state_->back->exchange->strategy() : std::string();
}
std::optional<Seconds> IndexedExchange::predicted_reverse_seconds() const {
  return state_->back ? state_->back->predicted_seconds() : std::nullopt;
}
Bytes IndexedExchange::reverse_bytes_to_other_nodes() const {
  return state_->back ? state_->back->exchange->bytes_to_other_nodes() : 0;
}
Bytes IndexedExchange::received_bytes() const { return state_->received_bytes; }
Bytes IndexedExchange::buffer_bytes() const {
  return state_->forward->buffer_bytes + (state_->back ? state_->back->buffer_bytes : 0);
}

}  // namespace commpass
