// The calls of Communicator with the arguments of MPI_Alltoallv.
#include "runtime/alltoallv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/error.hpp"
#include "runtime/alltoallv_engine.hpp"
#include "runtime/communicator.hpp"
#include "runtime/communicator_state.hpp"
#include "runtime/element_type.hpp"

namespace commpass {

namespace {

/// Counts and displacements as MPI takes them, checked.
struct Blocks {
  std::vector<Bytes> counts, offsets;
  ElementType type;

  /// @throws InputError on this rank, before anything is sent
  Blocks(const char* what, int ranks, std::vector<Bytes> given_counts, std::vector<Bytes> given_offsets, MPI_Datatype given_type)
      : counts(std::move(given_counts)), offsets(std::move(given_offsets)), type(given_type) {
    const auto fail = [&](const std::string& wrong, const std::string& remedy) { return InputError(fmt::format("alltoallv, {}", what), wrong, remedy); };
    if (std::ssize(counts) != ranks || std::ssize(offsets) != ranks)
      throw fail(fmt::format("there are {} counts and {} displacements for {} ranks", counts.size(), offsets.size(), ranks), "give one of each for every rank");
    for (Rank rank = 0; rank < ranks; ++rank)
      if (counts[static_cast<std::size_t>(rank)] < 0) throw fail(fmt::format("the count for rank {} is {}", rank, counts[static_cast<std::size_t>(rank)]), "use 0 or more");
  }
};

std::vector<Bytes> widen(std::span<const int> numbers) { return {numbers.begin(), numbers.end()}; }

/// The same count for all ranks, one after another.
Blocks equal_blocks(const char* what, int ranks, int count, MPI_Datatype type) {
  std::vector<Bytes> offsets;
  for (int rank = 0; rank < ranks; ++rank) offsets.push_back(Bytes{rank} * count);
  return {what, ranks, std::vector<Bytes>(static_cast<std::size_t>(ranks), count), std::move(offsets), type};
}

constexpr const char* send_side = "send side";
constexpr const char* receive_side = "receive side";

/// Everything that a rank sends and gets, also where it sends what lies in its receive buffer.
struct AllBlocks {
  std::optional<Blocks> sends;               ///< none: in place
  Blocks receives;
  std::vector<std::byte> in_place;           ///< a copy of what is sent
  std::vector<Bytes> in_place_counts, in_place_offsets;
  std::optional<ElementType> bytes;
  const void* send_buffer;

  AllBlocks(std::optional<Blocks> its_sends, const void* buffer, Blocks its_receives, const void* receive_buffer)
      : sends(std::move(its_sends)), receives(std::move(its_receives)), send_buffer(buffer) {
    if (sends) return;
    Bytes total = 0;
    for (const Bytes count : receives.counts) {
      in_place_counts.push_back(count * receives.type.size());
      in_place_offsets.push_back(total);
      total += in_place_counts.back();
    }
    in_place.resize(static_cast<std::size_t>(total));
    for (std::size_t rank = 0; rank < receives.counts.size(); ++rank)
      receives.type.pack(static_cast<const std::byte*>(receive_buffer) + receives.offsets[rank] * receives.type.extent(), receives.counts[rank], in_place.data() + in_place_offsets[rank]);
    bytes.emplace(MPI_BYTE);
  }

  DenseBlocks<const std::byte*> sent() const {
    if (sends) return {static_cast<const std::byte*>(send_buffer), sends->counts, sends->offsets, &sends->type};
    return {in_place.data(), in_place_counts, in_place_offsets, &*bytes};
  }
  DenseBlocks<std::byte*> received(void* buffer) const { return {static_cast<std::byte*>(buffer), receives.counts, receives.offsets, &receives.type}; }
};

}  // namespace

void Communicator::alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls, MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                             std::span<const int> rdispls, MPI_Datatype recvtype, const AlltoallvOptions& options) {
  const int ranks = layout().ranks();
  std::optional<Blocks> sends;
  if (sendbuf != MPI_IN_PLACE) sends.emplace(send_side, ranks, widen(sendcounts), widen(sdispls), sendtype);
  const AllBlocks blocks(std::move(sends), sendbuf, Blocks(receive_side, ranks, widen(recvcounts), widen(rdispls), recvtype), recvbuf);
  state_->alltoallv->run(blocks.sent(), blocks.received(recvbuf), options);
}

void Communicator::alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, const AlltoallvOptions& options) {
  const int ranks = layout().ranks();
  std::optional<Blocks> sends;
  if (sendbuf != MPI_IN_PLACE) sends = equal_blocks(send_side, ranks, sendcount, sendtype);
  const AllBlocks blocks(std::move(sends), sendbuf, equal_blocks(receive_side, ranks, recvcount, recvtype), recvbuf);
  state_->alltoallv->run(blocks.sent(), blocks.received(recvbuf), options);
}

const std::string& Communicator::last_alltoallv_strategy() const { return state_->alltoallv->last_strategy(); }

/// Types with gaps are packed into buffers of our own, others move from and to the user's.
struct PersistentAlltoallv::State {
  struct Side {
    Blocks blocks;
    std::byte* buffer = nullptr;            ///< the user's
    std::vector<std::byte> packed;
    std::vector<Bytes> offsets;             ///< of each rank's bytes in `packed`, or in the user's buffer
    bool is_packed() const { return !blocks.type.is_contiguous(); }
  };
  std::unique_ptr<Side> sends, receives;
  std::optional<Exchange> exchange;
  bool in_flight = false;
};

namespace {

template <class Side>
std::unique_ptr<Side> make_side(Blocks blocks, std::byte* buffer) {
  auto side = std::make_unique<Side>(Side{std::move(blocks), buffer, {}, {}});
  Bytes total = 0;
  for (std::size_t rank = 0; rank < side->blocks.counts.size(); ++rank) {
    side->offsets.push_back(side->is_packed() ? total : side->blocks.offsets[rank] * side->blocks.type.extent());
    total += side->blocks.counts[rank] * side->blocks.type.size();
  }
  if (side->is_packed()) side->packed.resize(static_cast<std::size_t>(total));
  return side;
}

template <class Side>
Bytes bytes_of(const Side& side, std::size_t rank) {
  return side.blocks.counts[rank] * side.blocks.type.size();
}

}  // namespace

PersistentAlltoallv::PersistentAlltoallv(std::unique_ptr<State> state) : state_(std::move(state)) {}
PersistentAlltoallv::~PersistentAlltoallv() = default;
PersistentAlltoallv::PersistentAlltoallv(PersistentAlltoallv&&) noexcept = default;
PersistentAlltoallv& PersistentAlltoallv::operator=(PersistentAlltoallv&&) noexcept = default;
const std::string& PersistentAlltoallv::strategy() const { return state_->exchange->strategy(); }

void PersistentAlltoallv::start() {
  auto& sends = *state_->sends;
  if (sends.is_packed() && !state_->in_flight)
    for (std::size_t rank = 0; rank < sends.offsets.size(); ++rank)
      sends.blocks.type.pack(sends.buffer + sends.blocks.offsets[rank] * sends.blocks.type.extent(), sends.blocks.counts[rank], sends.packed.data() + sends.offsets[rank]);
  state_->exchange->start();
  state_->in_flight = true;
}

void PersistentAlltoallv::wait() {
  state_->exchange->wait();
  auto& receives = *state_->receives;
  if (receives.is_packed() && state_->in_flight)
    for (std::size_t rank = 0; rank < receives.offsets.size(); ++rank)
      receives.blocks.type.unpack(receives.packed.data() + receives.offsets[rank], receives.blocks.counts[rank], receives.buffer + receives.blocks.offsets[rank] * receives.blocks.type.extent());
  state_->in_flight = false;
}

PersistentAlltoallv Communicator::alltoallv_init(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls, MPI_Datatype sendtype, void* recvbuf,
                                                 std::span<const int> recvcounts, std::span<const int> rdispls, MPI_Datatype recvtype, const ExchangeOptions& options) {
  if (sendbuf == MPI_IN_PLACE) throw InputError("alltoallv_init", "MPI_IN_PLACE is given", "use alltoallv, or a send buffer");
  using Side = PersistentAlltoallv::State::Side;
  auto state = std::make_unique<PersistentAlltoallv::State>();
  state->sends = make_side<Side>(Blocks(send_side, layout().ranks(), widen(sendcounts), widen(sdispls), sendtype), static_cast<std::byte*>(const_cast<void*>(sendbuf)));  // NOLINT: only read
  state->receives = make_side<Side>(Blocks(receive_side, layout().ranks(), widen(recvcounts), widen(rdispls), recvtype), static_cast<std::byte*>(recvbuf));
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  for (Rank rank = 0; rank < layout().ranks(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    if (const auto bytes = bytes_of(*state->sends, r); bytes > 0) sends.push_back({rank, state->sends->offsets[r], bytes});
    if (const auto bytes = bytes_of(*state->receives, r); bytes > 0) receives.push_back({rank, state->receives->offsets[r], bytes});
  }
  const void* from = state->sends->is_packed() ? state->sends->packed.data() : sendbuf;
  void* to = state->receives->is_packed() ? state->receives->packed.data() : recvbuf;
  state->exchange.emplace(neighbor_exchange(from, sends, to, receives, options));
  return PersistentAlltoallv(std::move(state));
}

}  // namespace commpass
