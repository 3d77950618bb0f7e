#include "runtime/alltoall/alltoallv.hpp"

#include <algorithm>
#include <optional>

#include "model/error.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/context.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

/// Types with gaps are packed into buffers of our own, others move from and to the user's.
struct PersistentAlltoallv::State {
  struct Packing {
    BlocksArgument argument;
    std::vector<std::byte> packed;
    std::vector<Bytes> offsets;  ///< of each rank's bytes in `packed`, or in the user's buffer from `begin` on
    Bytes begin = 0;             ///< displacements may be negative
    bool is_packed() const { return !argument.type->is_contiguous(); }
    Bytes bytes(std::size_t rank) const { return argument.counts[rank] * argument.type->size(); }

    /// To be called when the argument is there.
    void place() {
      Bytes total = 0;
      for (std::size_t rank = 0; rank < argument.counts.size(); ++rank) {
        const Bytes offset = argument.offsets[rank] * argument.type->extent();
        if (bytes(rank) > 0) begin = std::min(begin, offset);
        offsets.push_back(is_packed() ? total : offset);
        total += bytes(rank);
      }
      if (is_packed()) packed.resize(static_cast<std::size_t>(total));
      else
        for (auto& offset : offsets) offset -= begin;
    }
  };
  Packing sends, receives;
  const std::byte* send_buffer = nullptr;
  std::byte* receive_buffer = nullptr;
  std::optional<Exchange> exchange;
  bool in_flight = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!in_flight || !mpi_is_usable()) return;
    try {
      complete();
    } catch (...) {  // NOLINT: a destructor has nobody to tell
    }
  }

  void complete() {
    exchange->wait();
    hand_out();
  }

  /// What has come, once.
  void hand_out() {
    const auto& [argument, packed, offsets, begin] = receives;
    const auto blocks = argument.blocks(receive_buffer);
    if (receives.is_packed() && in_flight)
      for (std::size_t rank = 0; rank < offsets.size(); ++rank)
        argument.type->unpack(packed.data() + offsets[rank], argument.counts[rank], blocks.at(static_cast<Rank>(rank)));
    in_flight = false;
  }
};

PersistentAlltoallv::PersistentAlltoallv(std::unique_ptr<State> state) : state_(std::move(state)) {}
PersistentAlltoallv::~PersistentAlltoallv() = default;
PersistentAlltoallv::PersistentAlltoallv(PersistentAlltoallv&&) noexcept = default;
PersistentAlltoallv& PersistentAlltoallv::operator=(PersistentAlltoallv&&) noexcept = default;
const std::string& PersistentAlltoallv::strategy() const { return state_->exchange->strategy(); }
std::optional<Seconds> PersistentAlltoallv::predicted_seconds() const { return state_->exchange->predicted_seconds(); }
const std::string& PersistentAlltoallv::explanation() const { return state_->exchange->explanation(); }
Bytes PersistentAlltoallv::buffer_bytes() const {
  return state_->exchange->buffer_bytes() + std::ssize(state_->sends.packed) + std::ssize(state_->receives.packed);
}

void PersistentAlltoallv::start() {
  auto& [argument, packed, offsets, begin] = state_->sends;
  const auto blocks = argument.blocks(state_->send_buffer);
  if (state_->sends.is_packed() && !state_->in_flight)
    for (std::size_t rank = 0; rank < offsets.size(); ++rank)
      argument.type->pack(blocks.at(static_cast<Rank>(rank)), argument.counts[rank], packed.data() + offsets[rank]);
  state_->exchange->start();
  state_->in_flight = true;
}

bool PersistentAlltoallv::test() {
  if (!state_->exchange->test()) return false;
  state_->hand_out();
  return true;
}

void PersistentAlltoallv::wait() { state_->complete(); }

PersistentAlltoallv plan_alltoallv(const std::shared_ptr<Context>& context, const void* sendbuf,
                                   std::span<const int> sendcounts, std::span<const int> sdispls, MPI_Datatype sendtype,
                                   void* recvbuf, std::span<const int> recvcounts, std::span<const int> rdispls,
                                   MPI_Datatype recvtype, const ExchangeOptions& options) {
  const MPI_Comm comm = context->comm.get();
  auto state = insist([] { return std::make_unique<PersistentAlltoallv::State>(); });
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  Failure failure;
  attempt(failure, [&] {
    if (sendbuf == MPI_IN_PLACE)
      throw InputError("alltoallv_init", "MPI_IN_PLACE is given", "use alltoallv, or a send buffer");
    state->send_buffer = static_cast<const std::byte*>(sendbuf);
    state->receive_buffer = static_cast<std::byte*>(recvbuf);
    state->sends.argument.assign(Side::send, comm, sendbuf, sendcounts, sdispls, sendtype);
    state->receives.argument.assign(Side::receive, comm, recvbuf, recvcounts, rdispls, recvtype);
    state->sends.place();
    state->receives.place();
    for (Rank rank = 0; rank < context->layout.ranks(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (const auto bytes = state->sends.bytes(r); bytes > 0) sends.push_back({rank, state->sends.offsets[r], bytes});
      if (const auto bytes = state->receives.bytes(r); bytes > 0)
        receives.push_back({rank, state->receives.offsets[r], bytes});
    }
  });
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  if (!failure) {
    from = state->sends.is_packed() ? state->sends.packed.data() : state->send_buffer + state->sends.begin;
    to = state->receives.is_packed() ? state->receives.packed.data() : state->receive_buffer + state->receives.begin;
  }
  state->exchange.emplace(plan_exchange(context, from, sends, to, receives, options, failure));
  return PersistentAlltoallv(std::move(state));
}

}  // namespace commpass
