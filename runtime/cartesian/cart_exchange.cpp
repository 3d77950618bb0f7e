#include "runtime/cartesian/cart_exchange.hpp"

#include <fmt/core.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/route/grid_route.hpp"
#include "runtime/cartesian/cart_planning.hpp"
#include "runtime/cartesian/grid_headers.hpp"
#include "runtime/cartesian/told_travel.hpp"
#include "runtime/cartesian/user_pieces.hpp"
#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/neighbor/packed_exchange.hpp"
#include "runtime/plan/planner.hpp"

namespace commpass {

struct CartExchange::State : PackedExchange {
  std::string strategy;
  std::optional<Seconds> predicted_s;
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
Bytes CartExchange::buffer_bytes() const { return state_->buffer_bytes(); }

namespace {

/// The targets and sources of the blocks of a rank, by neighbour; −1: beyond an edge.
struct Peers {
  std::vector<Rank> targets, sources;

  Peers(const Neighborhood& neighborhood, Rank rank) {
    for (int i = 0; i < neighborhood.size(); ++i) {
      targets.push_back(neighborhood.target(rank, i).value_or(-1));
      sources.push_back(neighborhood.source(rank, i).value_or(-1));
    }
  }
};

/// How much each neighbour of any rank gets: block i comes from a rank that sends as much to its neighbour i as this
/// one does. Beyond an edge the user need not know it.
std::vector<Bytes> common_sizes(std::vector<Bytes> sent, const std::vector<Bytes>& received, const Peers& peers,
                                const std::string& place) {
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (peers.sources[i] < 0) continue;
    if (peers.targets[i] >= 0 && sent[i] != received[i])
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

/// Blocks with gaps stay where they are, if they may and that can be said; else they are packed.
std::optional<UserPieces> place(TypedBlocks& blocks, const void* users, bool may_stay) {
  if (blocks.are_contiguous()) {
    blocks.lay_out(TypedBlocks::Places::users);
    return {};
  }
  blocks.lay_out(TypedBlocks::Places::packed_once);
  auto pieces = may_stay ? UserPieces::of(blocks, users) : std::nullopt;
  if (pieces) blocks.leave_unpacked();
  return pieces;
}

}  // namespace

CartExchange plan_cart_exchange(const std::shared_ptr<Context>& context, const Neighborhood& neighborhood,
                                const CartBuffers& buffers, const CartPlan& plan, const std::string& place_of_call) {
  const Rank rank = context->comm.rank();
  const Peers peers(neighborhood, rank);
  const auto sent = buffers.sends.bytes(), received = buffers.receives.bytes();
  const NeighborBytes sizes{plan.counts_differ ? sent : common_sizes(sent, received, peers, place_of_call),
                            buffers.is_same};
  auto state = std::make_unique<CartExchange::State>();
  state->strategy = to_string(plan.strategy);
  state->predicted_s = plan.predicted_s;
  state->send_buffer = buffers.sends.buffer;
  state->receive_buffer = buffers.receives.buffer;
  state->sends = buffers.sends.blocks.with_peers(peers.targets);
  state->receives = buffers.receives.blocks.with_peers(peers.sources);
  const auto sent_pieces = place(state->sends, state->send_buffer, plan.may_stay()),
             received_pieces = place(state->receives, state->receive_buffer, plan.may_stay());
  auto* const from = sent_pieces ? sent_pieces->base() : state->sends.buffer(state->send_buffer);
  auto* const to = received_pieces ? received_pieces->base() : state->receives.buffer(state->receive_buffer);
  const auto sends = state->sends.edges<SendEdge>();
  const auto receives = state->receives.edges<ReceiveEdge>();
  if (plan.counts_differ) {
    state->exchange.emplace(
        plan_exchange(context, from, sends, to, receives, {.strategy = state->strategy}, Failure{}));
  } else {
    auto planned = plan_on_grid(*context, neighborhood, plan, sizes, sends, receives);
    lay_out(planned, sent_pieces ? &*sent_pieces : nullptr, received_pieces ? &*received_pieces : nullptr,
            context->machine);
    state->exchange.emplace(exchange_of_plan(context, plan.address, planned, from, to, {}));
  }
  return CartExchange(std::move(state));
}

}  // namespace commpass
