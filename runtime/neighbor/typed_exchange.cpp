#include "runtime/neighbor/typed_exchange.hpp"

#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/context.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/packed_exchange.hpp"

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
  for (const auto& [peer, offset, count, type] : side.blocks)
    blocks.add_checked(name, side.buffer, {peer, offset, count}, type, comm);
  const bool is_packed = must_be_packed || !blocks.are_contiguous();
  blocks.lay_out(is_packed ? TypedBlocks::Places::packed_once : TypedBlocks::Places::users);
  require_reachable(blocks, side.buffer, name);
}

}  // namespace

struct TypedExchange::State : PackedExchange {
  bool any_buffers = false;
};

TypedExchange::TypedExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
TypedExchange::~TypedExchange() = default;
TypedExchange::TypedExchange(TypedExchange&&) noexcept = default;
TypedExchange& TypedExchange::operator=(TypedExchange&&) noexcept = default;
const std::string& TypedExchange::strategy() const { return state_->exchange->strategy(); }
std::optional<Seconds> TypedExchange::predicted_seconds() const { return state_->exchange->predicted_seconds(); }
const std::string& TypedExchange::explanation() const { return state_->exchange->explanation(); }
Bytes TypedExchange::buffer_bytes() const { return state_->buffer_bytes(); }
void TypedExchange::start() { state_->start(); }
bool TypedExchange::test() { return state_->test(); }
void TypedExchange::wait() { state_->wait(); }

void TypedExchange::start(const void* send_buffer, void* receive_buffer) {
  const bool are_same = send_buffer == state_->send_buffer && receive_buffer == state_->receive_buffer;
  if (!are_same && !state_->any_buffers)
    throw InputError("exchange", "it is started with other buffers than it was planned with",
                     "plan it for any buffers (ExchangeOptions::any_buffers, commpass_any_buffers)");
  if (!are_same) {
    require_reachable(state_->sends, send_buffer, "exchange, send side");
    require_reachable(state_->receives, receive_buffer, "exchange, receive side");
  }
  if (!state_->in_flight) {
    state_->send_buffer = send_buffer;
    state_->receive_buffer = receive_buffer;
  }
  start();
}

TypedExchange plan_typed_exchange(const std::shared_ptr<Context>& context, const TypedSide& sends,
                                  const TypedSide& receives, const ExchangeOptions& options, const Failure& before) {
  const MPI_Comm comm = context->comm.get();
  auto state = insist([] { return std::make_unique<TypedExchange::State>(); });
  std::vector<SendEdge> send_edges;
  std::vector<ReceiveEdge> receive_edges;
  const void* from = nullptr;
  void* to = nullptr;
  Failure failure = before;
  attempt(failure, [&] {
    state->any_buffers = options.any_buffers;
    state->send_buffer = sends.buffer;
    state->receive_buffer = const_cast<void*>(receives.buffer);  // NOLINT: the user's, to write
    assign(state->sends, sends, "exchange, send side", options.any_buffers, comm);
    assign(state->receives, receives, "exchange, receive side", options.any_buffers, comm);
    from = state->sends.buffer(sends.buffer);
    to = state->receives.buffer(receives.buffer);
    send_edges = state->sends.edges<SendEdge>();
    receive_edges = state->receives.edges<ReceiveEdge>();
  });
  if (failure) {
    send_edges.clear();
    receive_edges.clear();
  }
  state->exchange.emplace(plan_exchange(context, from, send_edges, to, receive_edges, options, failure));
  return TypedExchange(std::move(state));
}

}  // namespace commpass
