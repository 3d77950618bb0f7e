#include "runtime/cartesian/cart_neighborhood.hpp"

#include <fmt/core.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/route/grid_route.hpp"
#include "runtime/cartesian/cart_planning.hpp"
#include "runtime/cartesian/told_travel.hpp"
#include "runtime/cartesian/user_pieces.hpp"
#include "runtime/execute/landings.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/plan/planner.hpp"
#include "runtime/planned_exchanges.hpp"

namespace commpass {

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
  return plan_with(route, grid_headers(travel, rank));
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
  const bool is_shared = plan.strategy.path.is_shared;
  const auto step = [&](const std::function<void()>& action) {
    if (is_shared) all_or_none(context->comm.get(), action);
    else action();
  };
  const Peers peers(neighborhood, rank);
  const auto sent = buffers.sends.bytes(), received = buffers.receives.bytes();
  NeighborBytes sizes{sent, buffers.is_same};
  auto packed = std::make_unique<PackedRequests>();
  packed->send_buffer = buffers.sends.buffer;
  packed->receive_buffer = buffers.receives.buffer;
  packed->sends = buffers.sends.blocks.with_peers(peers.targets);
  packed->receives = buffers.receives.blocks.with_peers(peers.sources);
  const auto sent_pieces = place(packed->sends, packed->send_buffer, plan.may_stay()),
             received_pieces = place(packed->receives, packed->receive_buffer, plan.may_stay());
  auto* const from = sent_pieces ? sent_pieces->base() : packed->sends.buffer(packed->send_buffer);
  auto* const to = received_pieces ? received_pieces->base() : packed->receives.buffer(packed->receive_buffer);
  const auto sends = packed->sends.edges<SendEdge>();
  const auto receives = packed->receives.edges<ReceiveEdge>();
  Decision decision{{to_string(plan.strategy), plan.predicted_s}, {}};
  const auto exchange_on_grid = [&] {
    Plan planned;
    step([&] {
      sizes.bytes = common_sizes(sent, received, peers, place_of_call);
      planned = plan_on_grid(*context, neighborhood, plan, sizes, sends, receives);
      lay_out(planned, sent_pieces ? &*sent_pieces : nullptr, received_pieces ? &*received_pieces : nullptr,
              context->machine);
    });
    auto landings = is_shared ? Landings::share(*context, planned) : nullptr;
    std::optional<Exchange> exchange;
    step([&] { exchange = exchange_of_plan(context, plan.address, planned, from, to, {}, std::move(landings)); });
    return std::move(*exchange);
  };
  auto exchange = plan.counts_differ
                      ? plan_exchange(context, from, sends, to, receives, {.strategy = decision.strategy}, Failure{})
                      : exchange_on_grid();
  exchange.state().decision = std::move(decision);
  if (packed->sends.is_packed() || packed->receives.is_packed()) exchange.state().surround(std::move(packed));
  return CartExchange(std::move(exchange));
}

}  // namespace commpass
