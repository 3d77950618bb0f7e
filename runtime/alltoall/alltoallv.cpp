// The calls of Communicator with the arguments of MPI_Alltoallv.
#include "runtime/alltoall/alltoallv.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "model/error.hpp"
#include "runtime/alltoall/alltoallv_arguments.hpp"
#include "runtime/alltoall/alltoallv_engine.hpp"
#include "runtime/communicator.hpp"
#include "runtime/communicator_state.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/mpi/mpi_error.hpp"

namespace commpass {

void Communicator::alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                             MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                             std::span<const int> rdispls, MPI_Datatype recvtype, const AlltoallvOptions& options) {
  auto& arguments = state_->alltoallv->arguments();
  arguments.receives.assign(Side::receive, mpi(), recvbuf, recvcounts, rdispls, recvtype);
  if (sendbuf != MPI_IN_PLACE) arguments.sends.assign(Side::send, mpi(), sendbuf, sendcounts, sdispls, sendtype);
  const auto by_library = [&](MPI_Comm comm) {
    COMMPASS_MPI_CALL(MPI_Alltoallv, sendbuf, sendcounts.data(), sdispls.data(), sendtype, recvbuf, recvcounts.data(),
                      rdispls.data(), recvtype, comm);
  };
  state_->alltoallv->run(sendbuf, recvbuf, options, std::cref(by_library));
}

void Communicator::alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, const AlltoallvOptions& options) {
  auto& arguments = state_->alltoallv->arguments();
  arguments.receives.assign_equal(Side::receive, mpi(), recvbuf, recvcount, recvtype);
  if (sendbuf != MPI_IN_PLACE) arguments.sends.assign_equal(Side::send, mpi(), sendbuf, sendcount, sendtype);
  const auto by_library = [&](MPI_Comm comm) {
    COMMPASS_MPI_CALL(MPI_Alltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  };
  state_->alltoallv->run(sendbuf, recvbuf, options, std::cref(by_library), recvcount * arguments.receives.type->size());
}

const std::string& Communicator::last_alltoallv_strategy() const { return state_->alltoallv->last_strategy(); }

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

void PersistentAlltoallv::start() {
  auto& [argument, packed, offsets, begin] = state_->sends;
  const auto blocks = argument.blocks(state_->send_buffer);
  if (state_->sends.is_packed() && !state_->in_flight)
    for (std::size_t rank = 0; rank < offsets.size(); ++rank)
      argument.type->pack(blocks.at(static_cast<Rank>(rank)), argument.counts[rank], packed.data() + offsets[rank]);
  state_->exchange->start();
  state_->in_flight = true;
}

void PersistentAlltoallv::wait() { state_->complete(); }

PersistentAlltoallv Communicator::alltoallv_init(const void* sendbuf, std::span<const int> sendcounts,
                                                 std::span<const int> sdispls, MPI_Datatype sendtype, void* recvbuf,
                                                 std::span<const int> recvcounts, std::span<const int> rdispls,
                                                 MPI_Datatype recvtype, const ExchangeOptions& options) {
  assemble(mpi());
  auto state = insist([] { return std::make_unique<PersistentAlltoallv::State>(); });
  std::vector<SendEdge> sends;
  std::vector<ReceiveEdge> receives;
  together(mpi(), [&] {
    if (sendbuf == MPI_IN_PLACE)
      throw InputError("alltoallv_init", "MPI_IN_PLACE is given", "use alltoallv, or a send buffer");
    state->send_buffer = static_cast<const std::byte*>(sendbuf);
    state->receive_buffer = static_cast<std::byte*>(recvbuf);
    state->sends.argument.assign(Side::send, mpi(), sendbuf, sendcounts, sdispls, sendtype);
    state->receives.argument.assign(Side::receive, mpi(), recvbuf, recvcounts, rdispls, recvtype);
    state->sends.place();
    state->receives.place();
    for (Rank rank = 0; rank < layout().ranks(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (const auto bytes = state->sends.bytes(r); bytes > 0) sends.push_back({rank, state->sends.offsets[r], bytes});
      if (const auto bytes = state->receives.bytes(r); bytes > 0)
        receives.push_back({rank, state->receives.offsets[r], bytes});
    }
  });
  const std::byte* from =
      state->sends.is_packed() ? state->sends.packed.data() : state->send_buffer + state->sends.begin;
  std::byte* to =
      state->receives.is_packed() ? state->receives.packed.data() : state->receive_buffer + state->receives.begin;
  state->exchange.emplace(neighbor_exchange(from, sends, to, receives, options));
  return PersistentAlltoallv(std::move(state));
}

}  // namespace commpass
