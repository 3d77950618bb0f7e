// How a Communicator and the C interface make handles: each function chooses and plans one. Collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>

#include "runtime/alltoall/alltoallv.hpp"
#include "runtime/cartesian/cart_neighborhood.hpp"
#include "runtime/cartesian/halo_exchange.hpp"
#include "runtime/indexed/sparse_allreduce.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"

namespace commpass {

struct AlltoallCall;
struct Context;
struct Failure;
struct Summation;
class SparseEngine;

/// Chooses and plans one (Communicator::neighbor_exchange). Collective.
/// @param before  a failure of this rank when it made the arguments, if any
/// @param sums    given: the edges are run backwards. The send buffer has the values of the receive edges, at their
/// offsets; the receive buffer gets those of the send edges, at theirs. Values for the same place are added where they
/// meet, in an order that the plan alone determines. Both buffers are in host memory. Must outlive the exchange.
/// @throws Error, the same on every rank
Exchange plan_exchange(const std::shared_ptr<Context>& context, const void* send_buffer,
                       std::span<const SendEdge> sends, void* receive_buffer, std::span<const ReceiveEdge> receives,
                       const ExchangeOptions& options, const Failure& before, Summation* sums = nullptr);

/// Chooses and plans one, of a v or w (Communicator::alltoallv_init, alltoallw_init). Collective.
/// @throws Error, the same on every rank
PersistentAlltoallv plan_alltoall(const std::shared_ptr<Context>& context, const AlltoallCall& call,
                                  const ExchangeOptions& options);

/// Makes one of the ranks of a communicator (Communicator::cart_neighborhood). Collective.
/// @param neighborhood  the same on every rank, of as many ranks
/// @throws Error, the same on every rank
CartNeighborhood make_cart_neighborhood(const Context& context, const Neighborhood& neighborhood,
                                        const CartOptions& options);

/// Finds the neighbourhood of a distributed-graph communicator on a grid: each rank has neighbours at the same offsets,
/// but for those beyond an edge (Cartesian paper §2.2). Neighbours may have any order; slots are those of the graph.
/// @return nothing if they have not. Collective over the context's communicator.
/// @param graph  of the same ranks in the same order
/// @throws Error, the same on every rank
std::optional<CartNeighborhood> find_cart_neighborhood(const Context& context, MPI_Comm graph, const Grid& grid,
                                                       const CartOptions& options);

/// Plans one (Communicator::halo_exchange). Collective. @throws Error, the same on every rank
HaloExchange plan_halo_exchange(const std::shared_ptr<Context>& context, const Grid& grid, const HaloArray& array,
                                void* cells, const HaloOptions& options);

/// Plans one (Communicator::indexed_exchange). Collective. @throws Error, the same on every rank
IndexedExchange plan_indexed_exchange(SparseEngine& engine, const OwnedBy& owned, std::span<const Index> needed,
                                      Bytes value_bytes, const IndexedOptions& options);

/// Plans one (Communicator::neighbor_reduce_scatter). Collective. @throws Error, the same on every rank
IndexedExchange plan_neighbor_reduce_scatter(SparseEngine& engine, std::span<const Contribution> contributions,
                                             std::int64_t result_values, Bytes value_bytes,
                                             const IndexedOptions& options);

/// Plans one (Communicator::sparse_allreduce). Collective. @throws Error, the same on every rank
SparseAllreduce plan_sparse_allreduce(SparseEngine& engine, std::span<const Index> indices, Bytes value_bytes,
                                      const IndexedOptions& options);

}  // namespace commpass
