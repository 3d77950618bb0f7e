#include "runtime/communicator.hpp"

#include <functional>
#include <iterator>

#include "model/base/error.hpp"
#include "runtime/alltoall/started_alltoallv.hpp"
#include "runtime/engines.hpp"
#include "runtime/mpi/agreement.hpp"
#include "runtime/neighbor/exchange_state.hpp"
#include "runtime/planned_exchanges.hpp"
#include "runtime/sparse/sparse_engine.hpp"

namespace commpass {

GivenLayout::GivenLayout(const Layout& given) : text(places_text(given)) {}

Communicator::Communicator(MPI_Comm comm, const std::string& profile, const CommunicatorOptions& options)
    : engines_(std::make_unique<Engines>(
          make_context(comm, profile, nullptr, options.layout.text, options.info, options.limits))) {}
Communicator::Communicator(MPI_Comm comm, const Machine& machine, const CommunicatorOptions& options)
    : engines_(std::make_unique<Engines>(
          make_context(comm, {}, &machine, options.layout.text, options.info, options.limits))) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

const Layout& Communicator::layout() const { return engines_->context->layout; }
const Machine& Communicator::machine() const { return engines_->context->machine; }
MPI_Comm Communicator::mpi() const { return engines_->context->comm.get(); }

void Communicator::use_wisdom(const std::string& file) {
  const auto use = engines_->caller.use();
  commpass::use_wisdom(*engines_->context, file);
}

void Communicator::use_stream(void* stream) {
  const auto use = engines_->caller.use();
  engines_->context->stream = stream;
}

Exchange Communicator::neighbor_exchange(const void* send_buffer, std::span<const SendEdge> sends, void* receive_buffer,
                                         std::span<const ReceiveEdge> receives, const ExchangeOptions& options) {
  const auto use = engines_->caller.use();
  Failure failure;
  attempt(failure, [&] {
    if (options.any_buffers)
      throw InputError("neighbor_exchange", "any_buffers is set, and an exchange of bytes has its buffers",
                       "give blocks of a datatype");
  });
  return plan_exchange(engines_->context, send_buffer, sends, receive_buffer, receives, options, failure);
}

TypedExchange Communicator::typed_neighbor_exchange(const void* send_buffer, std::span<const TypedBlock> sends,
                                                    void* receive_buffer, std::span<const TypedBlock> receives,
                                                    const ExchangeOptions& options) {
  const auto use = engines_->caller.use();
  return plan_typed_exchange(engines_->context, {send_buffer, sends}, {receive_buffer, receives}, options, {});
}

void Communicator::alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                             MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                             std::span<const int> rdispls, MPI_Datatype recvtype, const AlltoallvOptions& options) {
  engines_->alltoallv_once(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, options);
}

void Communicator::alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, const AlltoallvOptions& options) {
  engines_->alltoall_once(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, options);
}

PersistentAlltoallv Communicator::alltoallv_init(const void* sendbuf, std::span<const int> sendcounts,
                                                 std::span<const int> sdispls, MPI_Datatype sendtype, void* recvbuf,
                                                 std::span<const int> recvcounts, std::span<const int> rdispls,
                                                 MPI_Datatype recvtype, const ExchangeOptions& options) {
  const auto use = engines_->caller.use();
  const int ranks = engines_->context->layout.ranks();
  return plan_typed_exchange(engines_->context, {CallSide::v(sendbuf, sendcounts, sdispls, sendtype), ranks},
                             {CallSide::v(recvbuf, recvcounts, rdispls, recvtype), ranks}, options, {});
}

void Communicator::alltoallw(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                             std::span<const MPI_Datatype> sendtypes, void* recvbuf, std::span<const int> recvcounts,
                             std::span<const int> rdispls, std::span<const MPI_Datatype> recvtypes,
                             const AlltoallvOptions& options) {
  engines_->run(
      {CallSide::w(sendbuf, sendcounts, sdispls, sendtypes), CallSide::w(recvbuf, recvcounts, rdispls, recvtypes)},
      options);
}

PersistentAlltoallv Communicator::alltoallw_init(const void* sendbuf, std::span<const int> sendcounts,
                                                 std::span<const int> sdispls, std::span<const MPI_Datatype> sendtypes,
                                                 void* recvbuf, std::span<const int> recvcounts,
                                                 std::span<const int> rdispls, std::span<const MPI_Datatype> recvtypes,
                                                 const ExchangeOptions& options) {
  const auto use = engines_->caller.use();
  const int ranks = engines_->context->layout.ranks();
  return plan_typed_exchange(engines_->context, {CallSide::w(sendbuf, sendcounts, sdispls, sendtypes), ranks},
                             {CallSide::w(recvbuf, recvcounts, rdispls, recvtypes), ranks}, options, {});
}

StartedAlltoallv Communicator::start_alltoallv(const void* sendbuf, std::span<const int> sendcounts,
                                               std::span<const int> sdispls, MPI_Datatype sendtype, void* recvbuf,
                                               std::span<const int> recvcounts, std::span<const int> rdispls,
                                               MPI_Datatype recvtype, const AlltoallvOptions& options) {
  const auto use = engines_->caller.use();
  return commpass::start_alltoall(
      engines_->alltoallv,
      {CallSide::v(sendbuf, sendcounts, sdispls, sendtype), CallSide::v(recvbuf, recvcounts, rdispls, recvtype)},
      options);
}

StartedAlltoallv Communicator::start_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                              int recvcount, MPI_Datatype recvtype, const AlltoallvOptions& options) {
  const auto use = engines_->caller.use();
  return commpass::start_alltoall(
      engines_->alltoallv,
      {CallSide::equal(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype)}, options);
}

StartedAlltoallv Communicator::start_alltoallw(const void* sendbuf, std::span<const int> sendcounts,
                                               std::span<const int> sdispls, std::span<const MPI_Datatype> sendtypes,
                                               void* recvbuf, std::span<const int> recvcounts,
                                               std::span<const int> rdispls, std::span<const MPI_Datatype> recvtypes,
                                               const AlltoallvOptions& options) {
  const auto use = engines_->caller.use();
  return commpass::start_alltoall(
      engines_->alltoallv,
      {CallSide::w(sendbuf, sendcounts, sdispls, sendtypes), CallSide::w(recvbuf, recvcounts, rdispls, recvtypes)},
      options);
}

const std::string& Communicator::last_alltoallv_strategy() const { return engines_->alltoallv->last_strategy(); }

IndexedExchange Communicator::indexed_exchange(OwnedBy owned, std::span<const Index> needed, Bytes value_bytes,
                                               const IndexedOptions& options) {
  const auto use = engines_->caller.use();
  return plan_indexed_exchange(*engines_->sparse, owned, needed, value_bytes, options);
}

IndexedExchange Communicator::neighbor_reduce_scatter(std::span<const Contribution> contributions,
                                                      std::int64_t result_values, Bytes value_bytes,
                                                      const IndexedOptions& options) {
  const auto use = engines_->caller.use();
  return plan_neighbor_reduce_scatter(*engines_->sparse, contributions, result_values, value_bytes, options);
}

SparseAllreduce Communicator::sparse_allreduce(std::span<const Index> indices, Bytes value_bytes,
                                               const IndexedOptions& options) {
  const auto use = engines_->caller.use();
  return plan_sparse_allreduce(*engines_->sparse, indices, value_bytes, options);
}

CartNeighborhood Communicator::cart_neighborhood(const Neighborhood& neighborhood, const CartOptions& options) {
  const auto use = engines_->caller.use();
  return make_cart_neighborhood(*engines_->context, neighborhood, options);
}

std::optional<CartNeighborhood> Communicator::cart_neighborhood(MPI_Comm graph, const Grid& grid,
                                                                const CartOptions& options) {
  const auto use = engines_->caller.use();
  return find_cart_neighborhood(*engines_->context, graph, grid, options);
}

HaloExchange Communicator::halo_exchange(const Grid& grid, const HaloArray& array, void* cells,
                                         const HaloOptions& options) {
  const auto use = engines_->caller.use();
  return plan_halo_exchange(engines_->context, grid, array, cells, options);
}

namespace {

SparseSends variable_sends(const void* buffer, std::span<const SendEdge> sends) {
  return {static_cast<const std::byte*>(buffer), {sends.begin(), sends.end()}, {}, {}};
}

SparseSends constant_sends(const void* buffer, std::span<const Rank> destinations, Bytes bytes) {
  SparseSends result{static_cast<const std::byte*>(buffer), {}, bytes, {}};
  for (const Rank destination : destinations)
    result.edges.push_back({destination, std::ssize(result.edges) * bytes, bytes});
  return result;
}

SparseExchange start_sparse(const std::shared_ptr<SparseEngine>& engine, const SparseEngine::Sends& sends,
                            bool constant, const SparseOptions& options) {
  return SparseExchange(
      insist([&] { return std::make_unique<SparseExchange::State>(engine, sends, constant, options); }));
}

}  // namespace

ReceivedMessages Communicator::sparse_alltoallv(const void* send_buffer, std::span<const SendEdge> sends,
                                                const SparseOptions& options) {
  const auto use = engines_->caller.use();
  const auto given = [&] { return variable_sends(send_buffer, sends); };
  return engines_->sparse->run(std::cref(given), false, options);
}

ReceivedMessages Communicator::sparse_alltoall(const void* send_buffer, std::span<const Rank> destinations, Bytes bytes,
                                               const SparseOptions& options) {
  const auto use = engines_->caller.use();
  const auto given = [&] { return constant_sends(send_buffer, destinations, bytes); };
  return engines_->sparse->run(std::cref(given), true, options);
}

std::string Communicator::last_sparse_strategy() const { return engines_->sparse->last_strategy(); }

SparseExchange Communicator::start_sparse_alltoallv(const void* send_buffer, std::span<const SendEdge> sends,
                                                    const SparseOptions& options) {
  const auto use = engines_->caller.use();
  const auto given = [&] { return variable_sends(send_buffer, sends); };
  return start_sparse(engines_->sparse, std::cref(given), false, options);
}

SparseExchange Communicator::start_sparse_alltoall(const void* send_buffer, std::span<const Rank> destinations,
                                                   Bytes bytes, const SparseOptions& options) {
  const auto use = engines_->caller.use();
  const auto given = [&] { return constant_sends(send_buffer, destinations, bytes); };
  return start_sparse(engines_->sparse, std::cref(given), true, options);
}

}  // namespace commpass
