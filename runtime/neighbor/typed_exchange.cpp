#include "runtime/neighbor/typed_exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "model/base/error.hpp"
#include "runtime/context.hpp"
#include "runtime/device/find_device.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/element_type.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

namespace {

/// One side of an exchange: the user's blocks, and the runs of bytes that an Exchange moves.
class PackedSide {
 public:
  /// @throws InputError for invalid blocks; MpiError
  void assign(const TypedSide& side, const char* name, bool must_be_packed, MPI_Comm comm) {
    is_packed_ = must_be_packed;
    for (const auto& block : side.blocks) add(side, block, name, comm);
    place();
    require_reachable(static_cast<const std::byte*>(side.buffer), name);
  }

  /// @throws InputError for elements in device memory that have to be packed
  void require_reachable(const std::byte* users, const char* name) const {
    if (!is_packed_) return;
    const auto block = std::ranges::find_if(blocks_, [&](const Block& its) { return bytes(its) > 0; });
    if (block != blocks_.end() && device_of(users + block->offset + types_[block->type].begin()))
      throw InputError(name, "elements that have to be packed lie in device memory",
                       "give types without gaps and the same buffers every time, or host memory");
  }

  bool is_packed() const { return is_packed_; }
  Bytes packed_bytes() const { return std::ssize(packed_); }

  /// The bytes of the blocks in order, without empty ones.
  template <class Edge>
  std::vector<Edge> edges() const {
    std::vector<Edge> result;
    for (const auto& block : blocks_)
      if (bytes(block) > 0) result.push_back({block.peer, block.place, bytes(block)});
    return result;
  }

  /// The buffer of those bytes; null without bytes.
  template <class Byte>
  Byte* buffer(Byte* users) {
    if (is_packed_) return packed_.data();
    return blocks_.empty() ? users : users + begin_;
  }

  void pack(const std::byte* users) {
    if (!is_packed_) return;
    for (const auto& block : blocks_)
      if (block.is_first) types_[block.type].pack(users + block.offset, block.count, packed_.data() + block.place);
  }

  void unpack(std::byte* users) const {
    if (!is_packed_) return;
    for (const auto& block : blocks_)
      types_[block.type].unpack(packed_.data() + block.place, block.count, users + block.offset);
  }

 private:
  struct Block {
    Rank peer = 0;
    Bytes offset = 0, count = 0;
    std::size_t type = 0;
    Bytes place = 0;       ///< of its bytes
    bool is_first = true;  ///< with this place
  };

  Bytes bytes(const Block& block) const { return block.count * types_[block.type].size(); }

  void add(const TypedSide& side, const TypedBlock& block, const char* name, MPI_Comm comm) {
    if (block.count < 0)
      throw InputError(name, fmt::format("the count for rank {} is {}", block.peer, block.count), "use 0 or more");
    if (types_.empty() || handles_.back() != block.type) {
      types_.emplace_back(block.type, comm);
      handles_.push_back(block.type);
    }
    const auto& type = types_.back();
    // Address 0 is MPI_BOTTOM, to which addresses of derived types are relative.
    if (!side.buffer && block.offset == 0 && block.count * type.size() > 0 && type.is_contiguous())
      throw InputError(name, fmt::format("there are {} elements for rank {} and no buffer", block.count, block.peer),
                       "give a buffer, or counts of 0");
    if (!type.is_contiguous()) is_packed_ = true;
    blocks_.push_back({block.peer, block.offset, block.count, types_.size() - 1, 0, true});
  }

  void place() {
    if (is_packed_) return place_packed();
    std::erase_if(blocks_, [&](const Block& block) { return bytes(block) == 0; });
    if (blocks_.empty()) return;
    begin_ = std::ranges::min(blocks_, {}, &Block::offset).offset;
    for (auto& block : blocks_) block.place = block.offset - begin_;
  }

  /// Blocks of the same elements share a place, so that their bytes travel once.
  void place_packed() {
    std::map<std::tuple<Bytes, Bytes, std::size_t>, Bytes> places;
    Bytes total = 0;
    for (auto& block : blocks_) {
      const auto [at, is_new] = places.try_emplace({block.offset, block.count, block.type}, total);
      block.place = at->second;
      block.is_first = is_new;
      if (is_new) total += bytes(block);
    }
    packed_.resize(static_cast<std::size_t>(total));
  }

  std::vector<ElementType> types_;
  std::vector<MPI_Datatype> handles_;  ///< of the types
  std::vector<Block> blocks_;
  std::vector<std::byte> packed_;
  Bytes begin_ = 0;  ///< of the first block, if nothing is packed
  bool is_packed_ = false;
};

}  // namespace

struct TypedExchange::State {
  PackedSide sends, receives;
  const std::byte* send_buffer = nullptr;
  std::byte* receive_buffer = nullptr;
  bool any_buffers = false;
  std::optional<Exchange> exchange;
  bool in_flight = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!in_flight || !mpi_is_usable()) return;
    try {
      complete();
    } catch (...) {  // NOLINT: a destructor cannot report it
    }
  }

  void complete() {
    exchange->wait();
    unpack();
  }

  /// Unpacks the receives of an exchange once.
  void unpack() {
    if (in_flight) receives.unpack(receive_buffer);
    in_flight = false;
  }
};

TypedExchange::TypedExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
TypedExchange::~TypedExchange() = default;
TypedExchange::TypedExchange(TypedExchange&&) noexcept = default;
TypedExchange& TypedExchange::operator=(TypedExchange&&) noexcept = default;
const std::string& TypedExchange::strategy() const { return state_->exchange->strategy(); }
std::optional<Seconds> TypedExchange::predicted_seconds() const { return state_->exchange->predicted_seconds(); }
const std::string& TypedExchange::explanation() const { return state_->exchange->explanation(); }
Bytes TypedExchange::buffer_bytes() const {
  return state_->exchange->buffer_bytes() + state_->sends.packed_bytes() + state_->receives.packed_bytes();
}

void TypedExchange::start() {
  if (!state_->in_flight) state_->sends.pack(state_->send_buffer);
  state_->exchange->start();
  state_->in_flight = true;
}

void TypedExchange::start(const void* send_buffer, void* receive_buffer) {
  const auto* from = static_cast<const std::byte*>(send_buffer);
  auto* to = static_cast<std::byte*>(receive_buffer);
  const bool are_same = from == state_->send_buffer && to == state_->receive_buffer;
  if (!are_same && !state_->any_buffers)
    throw InputError("exchange", "it is started with other buffers than it was planned with",
                     "plan it for any buffers (ExchangeOptions::any_buffers, commpass_any_buffers)");
  if (!are_same) {
    state_->sends.require_reachable(from, "exchange, send side");
    state_->receives.require_reachable(to, "exchange, receive side");
  }
  if (!state_->in_flight) {
    state_->send_buffer = from;
    state_->receive_buffer = to;
  }
  start();
}

bool TypedExchange::test() {
  if (!state_->exchange->test()) return false;
  state_->unpack();
  return true;
}

void TypedExchange::wait() { state_->complete(); }

TypedExchange plan_typed_exchange(const std::shared_ptr<Context>& context, const TypedSide& sends,
                                  const TypedSide& receives, const ExchangeOptions& options, const Failure& before) {
  const MPI_Comm comm = context->comm.get();
  auto state = insist([] { return std::make_unique<TypedExchange::State>(); });
  std::vector<SendEdge> send_edges;
  std::vector<ReceiveEdge> receive_edges;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  Failure failure = before;
  attempt(failure, [&] {
    state->any_buffers = options.any_buffers;
    state->send_buffer = static_cast<const std::byte*>(sends.buffer);
    state->receive_buffer =
        static_cast<std::byte*>(const_cast<void*>(receives.buffer));  // NOLINT: the user's, to write
    state->sends.assign(sends, "exchange, send side", options.any_buffers, comm);
    state->receives.assign(receives, "exchange, receive side", options.any_buffers, comm);
    send_edges = state->sends.edges<SendEdge>();
    receive_edges = state->receives.edges<ReceiveEdge>();
    from = state->sends.buffer(state->send_buffer);
    to = state->receives.buffer(state->receive_buffer);
  });
  if (failure) {
    send_edges.clear();
    receive_edges.clear();
  }
  state->exchange.emplace(plan_exchange(context, from, send_edges, to, receive_edges, options, failure));
  return TypedExchange(std::move(state));
}

}  // namespace commpass
