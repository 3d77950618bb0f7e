#include "runtime/neighbor/typed_exchange.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/context.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/planned_exchanges.hpp"

namespace commpass {

namespace {

/// @throws InputError for elements in device memory that have to be packed
void require_reachable(const TypedBlocks& blocks, const void* users, const char* name) {
  if (blocks.is_packed() && device_of(blocks.first_byte(users)))
    throw InputError(name, "elements that have to be packed lie in device memory",
                     "give types without gaps and the same buffers every time, or host memory");
}

/// @throws InputError for invalid blocks; MpiError
void assign(TypedBlocks& blocks, const TypedSide& side, const char* name, bool must_be_packed, MPI_Comm comm) {
  if (side.call) blocks.assign(name, *side.call, side.count, comm, side.peers);
  for (const auto& [peer, offset, count, type] : side.blocks)
    blocks.add_checked(name, side.buffer, {peer, offset, count}, type, comm);
  const bool is_packed = must_be_packed || !blocks.are_contiguous();
  blocks.lay_out(is_packed ? TypedBlocks::Places::packed_once : TypedBlocks::Places::users);
  require_reachable(blocks, side.buffer, name);
}

}  // namespace

void TypedExchange::start(const void* send_buffer, void* receive_buffer) {
  auto& packed = *packed_;
  const bool are_same = send_buffer == packed.send_buffer && receive_buffer == packed.receive_buffer;
  if (!are_same && !any_buffers_)
    throw InputError("exchange", "it is started with other buffers than it was planned with",
                     "plan it for any buffers (ExchangeOptions::any_buffers, commpass_any_buffers)");
  if (!are_same) {
    require_reachable(packed.sends, send_buffer, "exchange, send side");
    require_reachable(packed.receives, receive_buffer, "exchange, receive side");
  }
  if (!packed.are_in_flight()) {
    packed.send_buffer = send_buffer;
    packed.receive_buffer = receive_buffer;
  }
  start();
}

TypedEdges edges_of(PackedRequests& packed, const TypedSide& sends, const TypedSide& receives, bool are_packed,
                    MPI_Comm comm) {
  packed.send_buffer = sends.buffer;
  packed.receive_buffer = const_cast<void*>(receives.buffer);  // NOLINT: the user's, to write
  assign(packed.sends, sends, "exchange, send side", are_packed, comm);
  assign(packed.receives, receives, "exchange, receive side", are_packed, comm);
  return {packed.sends.buffer(sends.buffer), packed.receives.buffer(receives.buffer), packed.sends.edges<SendEdge>(),
          packed.receives.edges<ReceiveEdge>()};
}

TypedExchange plan_typed_exchange(const std::shared_ptr<Context>& context, const TypedSide& sends,
                                  const TypedSide& receives, const ExchangeOptions& options, const Failure& before) {
  auto packed = insist([] { return std::make_unique<PackedRequests>(); });
  auto* const its_packed = packed.get();
  TypedEdges edges;
  Failure failure = before;
  attempt(failure, [&] { edges = edges_of(*packed, sends, receives, options.any_buffers, context->comm.get()); });
  if (failure) edges = {};
  auto exchange = plan_exchange(context, edges.from, edges.sends, edges.to, edges.receives, options, failure);
  exchange.state().surround(std::move(packed));
  return {std::move(exchange), its_packed, options.any_buffers};
}

}  // namespace commpass
