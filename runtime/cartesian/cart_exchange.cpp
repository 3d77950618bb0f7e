#include "runtime/cartesian/cart_exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "model/base/error.hpp"
#include "model/route/grid_route.hpp"
#include "runtime/cartesian/cart_planning.hpp"
#include "runtime/cartesian/grid_headers.hpp"
#include "runtime/cartesian/told_travel.hpp"
#include "runtime/cartesian/user_pieces.hpp"
#include "runtime/execute/executor.hpp"
#include "runtime/execute/persistent_requests.hpp"
#include "runtime/mpi/mpi_error.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/plan/planner.hpp"

namespace commpass {

namespace {

/// A block with gaps, and where its bytes are one after another.
struct Packed {
  std::size_t slot;
  std::byte* bytes;
};

/// One side of an exchange as the plan sees it: one buffer, and where in it each block is. Blocks with gaps stay where
/// they are if that can be said, and are else packed into a buffer of ours.
struct Placed {
  std::byte* buffer = nullptr;
  std::vector<Bytes> offsets;        ///< by neighbour
  std::optional<UserPieces> pieces;  ///< where the bytes of that buffer lie
  std::vector<std::byte> own;        ///< of blocks that are packed, the bytes
  std::vector<Packed> packed;

  /// @param is_used   by neighbour: is there a rank?
  /// @param may_stay  may blocks with gaps stay where they are?
  Placed(const CartBlocks& blocks, const std::vector<bool>& is_used, bool is_same, bool may_stay)
      : offsets(blocks.size(), 0) {
    if (blocks.are_contiguous()) {
      buffer = blocks.lowest();
      for (std::size_t i = 0; i < blocks.size(); ++i)
        if (blocks.bytes(i) > 0) offsets[i] = blocks[i].at - buffer;
      return;
    }
    Bytes total = 0;
    std::vector<std::size_t> slots;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (!is_used[i] || (is_same && !slots.empty())) continue;
      offsets[i] = total;
      total += blocks.bytes(i);
      slots.push_back(i);
    }
    if (is_same) std::ranges::fill(offsets, 0);
    if (may_stay) pieces = UserPieces::of(blocks, slots);
    if (pieces) {
      buffer = pieces->base();
      return;
    }
    own.resize(static_cast<std::size_t>(total));
    buffer = own.data();
    for (const auto slot : slots) packed.push_back({slot, buffer + offsets[slot]});
  }
};

}  // namespace

struct CartExchange::State {
  std::shared_ptr<Context> context;  // keeps the communicator
  Context::Address address;
  CartBuffers buffers;
  Placed sends, receives;
  std::string strategy;
  std::optional<Seconds> predicted_s;
  Bytes buffer_bytes = 0;
  std::unique_ptr<Executor> executor;
  std::optional<Exchange> exchange;  // where headers travelled
  bool in_flight = false;

  State(std::shared_ptr<Context> its_context, CartPlan plan, CartBuffers given, const std::vector<bool>& has_target,
        const std::vector<bool>& has_source)
      : context(std::move(its_context)),
        address(std::move(plan.address)),
        buffers(std::move(given)),
        sends(buffers.sends, has_target, buffers.is_same, plan.may_stay()),
        receives(buffers.receives, has_source, false, plan.may_stay()),
        strategy(to_string(plan.strategy)),
        predicted_s(plan.predicted_s) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!in_flight || !mpi_is_usable()) return;
    try {
      wait();
    } catch (...) {  // NOLINT: a destructor cannot throw
    }
  }

  void start() {
    if (!in_flight)
      for (const auto& [slot, bytes] : sends.packed)
        buffers.sends.type(slot).pack(buffers.sends[slot].at, buffers.sends[slot].count, bytes);
    executor ? executor->start() : exchange->start();
    in_flight = true;
  }
  bool test() {
    if (!(executor ? executor->test() : exchange->test())) return false;
    hand_out();
    return true;
  }
  void wait() {
    executor ? executor->wait() : exchange->wait();
    hand_out();
  }
  /// Hands out the received blocks, once.
  void hand_out() {
    if (in_flight)
      for (const auto& [slot, bytes] : receives.packed)
        buffers.receives.type(slot).unpack(bytes, buffers.receives[slot].count, buffers.receives[slot].at);
    in_flight = false;
  }
};

CartExchange::CartExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
CartExchange::~CartExchange() = default;
CartExchange::CartExchange(CartExchange&&) noexcept = default;
CartExchange& CartExchange::operator=(CartExchange&&) noexcept = default;
void CartExchange::start() { state_->start(); }
bool CartExchange::test() { return state_->test(); }
void CartExchange::wait() { state_->wait(); }
const std::string& CartExchange::strategy() const { return state_->strategy; }
std::optional<Seconds> CartExchange::predicted_seconds() const { return state_->predicted_s; }
Bytes CartExchange::buffer_bytes() const { return state_->buffer_bytes; }

std::vector<Bytes> bytes_of(const CartBlocks& blocks) {
  std::vector<Bytes> bytes;
  bytes.reserve(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) bytes.push_back(blocks.bytes(i));
  return bytes;
}

namespace {

/// The targets and sources of the blocks of a rank, by neighbour; −1: beyond an edge.
struct Peers {
  std::vector<Rank> targets, sources;
  std::vector<bool> has_target, has_source;

  Peers(const Neighborhood& neighborhood, Rank rank) {
    for (int i = 0; i < neighborhood.size(); ++i) {
      const auto target = neighborhood.target(rank, i), source = neighborhood.source(rank, i);
      has_target.push_back(target.has_value());
      has_source.push_back(source.has_value());
      targets.push_back(target.value_or(-1));
      sources.push_back(source.value_or(-1));
    }
  }
};

/// How much each neighbour of any rank gets: block i comes from a rank that sends as much to its neighbour i as this
/// one does. Beyond an edge the user need not know it.
std::vector<Bytes> common_sizes(std::vector<Bytes> sent, const std::vector<Bytes>& received, const Peers& peers,
                                const std::string& place) {
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (!peers.has_source[i]) continue;
    if (peers.has_target[i] && sent[i] != received[i])
      throw InputError(
          place,
          fmt::format("neighbour {} is sent {} bytes, and {} are to come from its opposite", i, sent[i], received[i]),
          "give the same sizes on all ranks, or the option counts_differ");
    sent[i] = received[i];
  }
  return sent;
}

/// Plans without other ranks, which know the same sizes.
Plan plan_on_grid(const Context& context, const Neighborhood& neighborhood, const CartPlan& plan,
                  const NeighborBytes& sizes, std::span<const SendEdge> sends, std::span<const ReceiveEdge> receives) {
  const Rank rank = context.comm.rank();
  const std::vector<Payload> payloads(sends.size(), sizes.is_same ? 0 : no_payload);
  const auto plan_with = [&](const Route& route, const HeaderSource& headers) {
    const RouteOfRank own{route, plan.strategy.window, Coalescing::coalesced, rank, neighborhood.grid.ranks()};
    return plan_alone(own, Planner(own, sends, receives, payloads), headers);
  };
  if (plan.told) {
    const auto indices = indices_of(neighborhood, sizes.bytes);
    return plan_with(plan.told->route(), [&](int stage, const Departures&, std::span<const Block>) {
      return plan.told->headers(stage, sizes, indices);
    });
  }
  const auto way = grid_way(plan.strategy, neighborhood.grid);
  GridRoute route(way);
  route.seat(context.layout);
  const GridTravel travel(neighborhood, way, sizes);
  const GridHeaders headers(travel, rank);
  return plan_with(route, std::cref(headers));
}

}  // namespace

CartExchange plan_cart_exchange(const std::shared_ptr<Context>& context, const Neighborhood& neighborhood,
                                CartBuffers buffers, CartPlan plan, const std::string& place) {
  const Rank rank = context->comm.rank();
  const Peers peers(neighborhood, rank);
  const auto sent = bytes_of(buffers.sends), received = bytes_of(buffers.receives);
  const NeighborBytes sizes{plan.counts_differ ? sent : common_sizes(sent, received, peers, place), buffers.is_same};
  auto state =
      std::make_unique<CartExchange::State>(context, plan, std::move(buffers), peers.has_target, peers.has_source);
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (peers.has_target[i]) sends.push_back({peers.targets[i], state->sends.offsets[i], sent[i]});
    if (peers.has_source[i]) receives.push_back({peers.sources[i], state->receives.offsets[i], received[i]});
  }
  const Bytes own = std::ssize(state->sends.own) + std::ssize(state->receives.own);
  if (plan.counts_differ) {
    state->exchange.emplace(plan_exchange(context, state->sends.buffer, sends, state->receives.buffer, receives,
                                          {to_string(plan.strategy)}, Failure{}));
    state->buffer_bytes = own + state->exchange->buffer_bytes();
    return CartExchange(std::move(state));
  }
  auto planned = plan_on_grid(*context, neighborhood, plan, sizes, sends, receives);
  lay_out(planned, state->sends.pieces ? &*state->sends.pieces : nullptr,
          state->receives.pieces ? &*state->receives.pieces : nullptr, context->machine);
  state->buffer_bytes = own + planned.transit_bytes + planned.packing_bytes;
  state->executor = std::make_unique<Executor>(std::make_unique<PersistentRequests>(
      planned, state->address.comm, state->address.tag, state->sends.buffer, state->receives.buffer, context->machine,
      host_memory(), RequestLife::persistent, context->send_limits()));
  return CartExchange(std::move(state));
}

}  // namespace commpass
