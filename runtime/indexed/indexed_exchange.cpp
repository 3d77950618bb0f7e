#include "runtime/indexed/indexed_exchange.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "runtime/context.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/indexed/value_planning.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/planned_exchanges.hpp"
#include "runtime/sparse/sparse_engine.hpp"

namespace commpass {

IndexedOptions agreed_options(MPI_Comm comm, Bytes value_bytes, IndexedOptions options) {
  struct Agreed {
    Bytes value_bytes;
    CostModel model;
    bool forward, reverse, overwrite, deterministic;
    std::optional<bool> share;
  } agreed{value_bytes,       options.model,         options.forward, options.reverse,
           options.overwrite, options.deterministic, options.share};
  static_assert(std::is_trivially_copyable_v<Agreed>);
  COMMPASS_MPI_CALL(MPI_Bcast, &agreed, static_cast<int>(sizeof agreed), MPI_BYTE, 0, comm);
  all_or_none(comm, [&] {
    if (value_bytes < 1)
      throw InputError("indexed exchange", fmt::format("a value has {} bytes", value_bytes), "use 1 or more");
    if (value_bytes != agreed.value_bytes)
      throw InputError("indexed exchange",
                       fmt::format("a value has {} bytes, and {} on rank 0", value_bytes, agreed.value_bytes),
                       "use the same on every rank");
    if (!agreed.forward && !agreed.reverse)
      throw InputError("indexed exchange", "neither direction is planned", "set forward or reverse");
  });
  options.model = agreed.model;
  options.forward = agreed.forward;
  options.reverse = agreed.reverse;
  options.overwrite = agreed.overwrite;
  options.deterministic = agreed.deterministic;
  options.share = agreed.share;
  // Owners are sought once for each plan.
  options.discovery.planner = PlannerMode::estimate;
  options.discovery.planner_seconds.reset();
  return options;
}

struct IndexedExchange::State {
  Bytes value_bytes = 0, received_bytes = 0;
  const void* bound = nullptr;  ///< to which forward's ghost values are bound, if to any
  bool shares_values = false, adds_on_the_way = false;
  DeviceBackend::Stream users = nullptr;  ///< the user's stream
  std::string explanation;
  std::unique_ptr<Direction> forward, back;  ///< one or both

  const Direction& main() const { return forward ? *forward : *back; }

  Direction* in_flight = nullptr;  ///< one of the two
  void* target = nullptr;          ///< of the exchange in flight: the user's array, or its copy

  void check_idle() const {
    if (in_flight) throw Error("indexed exchange: it was started twice; call wait before the next start.");
  }

  /// Moves on the exchange in flight. After a failure none is in flight.
  template <class Action>
  auto unless_it_fails(Action action) {
    try {
      return action(*in_flight->exchange);
    } catch (...) {
      in_flight = nullptr;
      throw;
    }
  }

  /// Puts or adds received values in their places.
  void finish() {
    if (in_flight == nullptr) return;
    auto& way = *std::exchange(in_flight, nullptr);
    const auto& ways = way.is_on_device ? way.staged->ways() : way.ways;
    const void* const from = way.is_in_place ? target : way.receive.get();
    copy_values(ways.deliver, value_bytes, from, target);
    add_values(ways.deliver_more, value_bytes, from, target, std::ref(way.summation));
    if (way.is_on_device) way.staged->give_back();
  }

  void rethrow_failed_addition() {
    if (back && back->summation.failure) std::rethrow_exception(std::exchange(back->summation.failure, nullptr));
  }

  /// How values move and where they are taken from and put, in one direction.
  struct Arrays {
    const ValueWays& ways;
    const void* from;
    void* to;
  };
  /// Those of an exchange that begins. Arrays on devices are copied to host memory.
  /// @param adds  to the second array; nothing: values are put there
  Arrays begin(Direction& way, const void* from, void* to, std::optional<NumberType> adds = {}) const {
    const StagedValues::Place place{device_of(from), device_of(to), users, adds};
    way.is_on_device = place.from || place.to;
    if (!way.is_on_device) return {way.ways, from, to};
    if (!way.staged || way.staged->place() != place)
      way.staged = std::make_unique<StagedValues>(way.ways, value_bytes, place);
    way.staged->take(from, to);
    return {way.staged->ways(), way.staged->from(), way.staged->to()};
  }
};

namespace {

/// Contributions are added to the values of their owner; or the first one of each value is put there.
void combine_at_owner(ValueWays& back, ValueRuns own, bool overwrite) {
  if (!overwrite) {
    back.own_more = std::move(own);
    back.deliver_more = std::exchange(back.deliver, {});
    return;
  }
  std::vector<bool> is_filled;
  auto [own_first, own_more] = split_by_place(own, is_filled);
  auto [first, more] = split_by_place(back.deliver, is_filled);
  back.own = std::move(own_first);
  back.own_more = std::move(own_more);
  back.deliver = std::move(first);
  back.deliver_more = std::move(more);
}

std::string explain(const Way& forward, const Way& back) {
  std::string text;
  if (forward.planned) {
    text += forward.planned->exchange->explanation();
    if (forward.planned->exchange->predicted_seconds())
      text += fmt::format("Loops over values before and after it are predicted to take {} more.\n",
                          format_seconds(forward.planned->loops_s));
    if (forward.is_shared) text += "Values that several ranks need travel once as far as they go together.\n";
  } else {
    text += back.planned->exchange->explanation();
  }
  if (back.planned)
    text += fmt::format("The way back: {}, and contributions to a value are added {}.\n",
                        back.planned->exchange->strategy(),
                        back.is_shared ? "where they meet" : "by its owner in the order of ranks");
  return text;
}

}  // namespace

IndexedExchange plan_value_exchange(SparseEngine& engine, const ValueRequests& requests, Bytes value_bytes,
                                    const IndexedOptions& options) {
  const auto& context = engine.context();
  auto state = std::make_unique<IndexedExchange::State>();
  const auto shared = wire_shared(engine, requests, value_bytes, options);
  Way forward, back;
  if (options.forward) forward = plan_forward(context, requests, shared, value_bytes, options);
  if (options.reverse) back = plan_back(context, requests, shared, value_bytes, options);
  all_or_none(context->comm.get(), [&] {
    state->value_bytes = value_bytes;
    state->received_bytes = requests.slots * value_bytes;
    state->bound = options.ghost_values;
    state->shares_values = forward.is_shared;
    state->adds_on_the_way = back.is_shared;
    state->explanation = explain(forward, back);
    state->users = context->stream;
    if (back.planned) combine_at_owner(back.planned->ways, reversed(requests.own), options.overwrite);
    if (forward.planned) forward.planned->ways.own = requests.own;
    state->forward = std::move(forward.planned);
    state->back = std::move(back.planned);
  });
  return IndexedExchange(std::move(state));
}

IndexedExchange plan_indexed_exchange(SparseEngine& engine, const OwnedBy& owned, std::span<const Index> needed,
                                      Bytes value_bytes, const IndexedOptions& options) {
  const MPI_Comm comm = engine.context()->comm.get();
  assemble(comm);
  const auto agreed = agreed_options(comm, value_bytes, options);
  std::optional<OwnedIndices> indices;
  DistinctIndices needs;
  all_or_none(comm, [&] {
    std::visit([&](const auto& given) { indices.emplace(given); }, owned);
    needs = distinct_indices(needed);
  });
  const auto owners = find_owners(engine, *indices, needs.indices, agreed.discovery);
  return plan_value_exchange(engine, request_values(engine, *indices, needs, owners, agreed.discovery), value_bytes,
                             agreed);
}

IndexedExchange::IndexedExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}

void IndexedExchange::start_forward(const void* owned_values, void* ghost_values) {
  auto& s = *state_;
  s.check_idle();
  if (!s.forward) throw Error("indexed exchange: the way there was not planned; set IndexedOptions::forward.");
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
  const auto [ways, from, to] = s.begin(*s.back, ghost_values, owned_values, add.numbers());
  auto& summation = s.back->summation;
  summation.add = std::move(add);
  summation.failure = nullptr;
  copy_values(ways.gather, s.value_bytes, from, s.back->send.get());
  add_values(ways.gather_more, s.value_bytes, from, s.back->send.get(), std::ref(summation));
  s.back->exchange->start();
  s.target = to;
  s.in_flight = s.back.get();
  copy_values(ways.own, s.value_bytes, from, to);
  add_values(ways.own_more, s.value_bytes, from, to, std::ref(summation));
}

bool IndexedExchange::test_messages() {
  auto& s = *state_;
  const bool is_complete =
      s.in_flight == nullptr || s.unless_it_fails([](Exchange& exchange) { return exchange.test(); });
  if (is_complete) s.finish();
  return is_complete;
}

void IndexedExchange::wait_for_messages() {
  auto& s = *state_;
  if (s.in_flight == nullptr) return;
  s.unless_it_fails([](Exchange& exchange) { exchange.wait(); });
  s.finish();
}

bool IndexedExchange::test() {
  const bool is_complete = test_messages();
  if (is_complete) state_->rethrow_failed_addition();
  return is_complete;
}

void IndexedExchange::wait() {
  wait_for_messages();
  state_->rethrow_failed_addition();
}

std::int64_t IndexedExchange::numbers_in_a_value(std::size_t number_bytes) const {
  const auto bytes = static_cast<Bytes>(number_bytes);
  if (state_->value_bytes % bytes != 0)
    throw InputError("indexed exchange",
                     fmt::format("a value of {} bytes is no whole number of numbers of {}", state_->value_bytes, bytes),
                     "add values of the planned size");
  return state_->value_bytes / bytes;
}

const std::string& IndexedExchange::strategy() const { return state_->main().exchange->strategy(); }
std::optional<Seconds> IndexedExchange::predicted_seconds() const { return state_->main().predicted_seconds(); }
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
  return (state_->forward ? state_->forward->buffer_bytes : 0) + (state_->back ? state_->back->buffer_bytes : 0);
}

}  // namespace commpass
