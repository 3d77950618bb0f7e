// Cartesian collectives from C.
#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "commpass/commpass.h"
#include "runtime/c_support.hpp"
#include "runtime/cartesian/cart_neighborhood.hpp"
#include "runtime/cartesian/halo_exchange.hpp"
#include "runtime/choose/info_hints.hpp"
#include "runtime/mpi/call_side.hpp"
#include "runtime/planned_exchanges.hpp"

struct commpass_cart_state {
  commpass::CartNeighborhood neighborhood;
  commpass::CartInitOptions options;
};

struct commpass_cart_exchange_state {
  commpass::Exchange exchange;
};

namespace {

using commpass::CallSide;
using commpass::Grid;
using commpass::InputError;
using commpass::Rank;
using commpass::c::guarded;
using commpass::c::require_list;
using commpass::c::value_of;

Grid grid_of(int d, const int dimensions[], const int periods[]) {
  if (d < 1) throw InputError("commpass_cart", fmt::format("there are {} dimensions", d), "use 1 or more");
  require_list("commpass_cart", dimensions, d, "dimensions");
  require_list("commpass_cart", periods, d, "periods");
  Grid grid{{dimensions, dimensions + d}, {}};
  for (int k = 0; k < d; ++k) grid.periodic.push_back(periods[k] != 0);
  return grid;
}

commpass::CartNeighborhood& neighborhood_of(commpass_cart cart) {
  if (!cart) throw InputError("commpass_cart", "it is NULL", "create one with commpass_cart_neighborhood_create");
  return cart->neighborhood;
}

std::size_t dimensions_of(commpass_cart cart) { return neighborhood_of(cart).neighborhood().grid.dimensions(); }

/// A list with a value for each neighbour.
template <class Item>
std::span<const Item> of(commpass_cart cart, const Item* items) {
  return commpass::c::list(items, cart ? cart->neighborhood.neighborhood().size() : 0);
}

int run(commpass_cart cart, const CallSide& sends, const CallSide& receives, const char* name) {
  return guarded([&] { neighborhood_of(cart).run(sends, receives, name, cart->options); });
}

int init(commpass_cart cart, commpass_cart_exchange* exchange, const CallSide& sends, const CallSide& receives,
         const char* name) {
  return guarded([&] {
    *exchange = nullptr;
    *exchange = new commpass_cart_exchange_state{neighborhood_of(cart).init(sends, receives, name, cart->options)};
  });
}

template <class Action>
int with_exchange(commpass_cart_exchange exchange, Action action) {
  return guarded([&] {
    if (!exchange)
      throw InputError("commpass_cart", "the exchange is NULL", "make one with a function that ends in _init");
    action(exchange->exchange);
  });
}

}  // namespace

int commpass_cart_neighborhood_create(commpass_comm comm, int d, const int dimensions[], const int periods[], int t,
                                      const int targetrelative[], const int* weights, MPI_Info info, int reorder,
                                      commpass_cart* cart) {
  *cart = nullptr;
  return guarded([&] {
    const auto use = commpass::c::require_communicator(comm);
    const auto& context = *comm->engines.context;
    commpass::warn_unknown_hints(info, context.comm.rank());
    commpass::Neighborhood neighborhood;
    commpass::CartOptions options;
    commpass::CartInitOptions init_options;
    commpass::all_or_none(context.comm.get(), [&] {
      if (t < 0) throw InputError("commpass_cart", fmt::format("there are {} neighbours", t), "use 0 or more");
      require_list("commpass_cart", targetrelative, t, "targetrelative");
      neighborhood.grid = grid_of(d, dimensions, periods);
      neighborhood.offsets.assign(targetrelative, targetrelative + std::ptrdiff_t{t} * d);
      if (weights && weights != MPI_UNWEIGHTED) neighborhood.weights.assign(weights, weights + t);
      options = {value_of(info, "commpass_strategy"), reorder != 0};
      init_options.counts_differ = value_of(info, "commpass_counts_differ") == "true";
    });
    *cart = new commpass_cart_state{commpass::make_cart_neighborhood(context, neighborhood, options), init_options};
  });
}

int commpass_cart_free(commpass_cart* cart) {
  delete *cart;
  *cart = nullptr;
  return COMMPASS_SUCCESS;
}

int commpass_cart_rank(commpass_cart cart, int* rank) {
  return guarded([&] { *rank = neighborhood_of(cart).rank(); });
}

int commpass_cart_relative_rank(commpass_cart cart, const int relative[], int* rank) {
  return guarded([&] {
    *rank = neighborhood_of(cart).relative_rank({relative, dimensions_of(cart)}).value_or(MPI_PROC_NULL);
  });
}

int commpass_cart_relative_shift(commpass_cart cart, const int relative[], int* inrank, int* outrank) {
  return guarded([&] {
    const auto [source, target] = neighborhood_of(cart).relative_shift({relative, dimensions_of(cart)});
    *inrank = source.value_or(MPI_PROC_NULL);
    *outrank = target.value_or(MPI_PROC_NULL);
  });
}

int commpass_cart_relative_coord(commpass_cart cart, int rank, int relative[]) {
  return guarded([&] { std::ranges::copy(neighborhood_of(cart).relative_coordinates(rank), relative); });
}

int commpass_cart_neighbor_count(commpass_cart cart, int* t) {
  return guarded([&] { *t = neighborhood_of(cart).neighborhood().size(); });
}

int commpass_cart_neighbor_get(commpass_cart cart, int maxin, int source[], int sourceweight[], int maxout,
                               int target[], int targetweight[]) {
  return guarded([&] {
    const auto& neighborhood = neighborhood_of(cart);
    const auto& weights = neighborhood.neighborhood().weights;
    const auto fill = [&](const std::vector<Rank>& ranks, int most, int* peers, int* its_weights) {
      for (std::size_t i = 0; i < ranks.size() && static_cast<int>(i) < most; ++i) {
        peers[i] = ranks[i];
        if (its_weights) its_weights[i] = weights.empty() ? 1 : weights[i];
      }
    };
    fill(neighborhood.sources(), maxin, source, sourceweight);
    fill(neighborhood.targets(), maxout, target, targetweight);
  });
}

int commpass_cart_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, commpass_cart cart) {
  return run(cart, CallSide::equal(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype),
             "alltoall");
}
int commpass_cart_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, commpass_cart cart, commpass_cart_exchange* exchange) {
  return init(cart, exchange, CallSide::equal(sendbuf, sendcount, sendtype),
              CallSide::equal(recvbuf, recvcount, recvtype), "alltoall_init");
}

int commpass_cart_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            commpass_cart cart) {
  return run(cart, CallSide::v(sendbuf, of(cart, sendcounts), of(cart, sdispls), sendtype),
             CallSide::v(recvbuf, of(cart, recvcounts), of(cart, rdispls), recvtype), "alltoallv");
}
int commpass_cart_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, commpass_cart cart, commpass_cart_exchange* exchange) {
  return init(cart, exchange, CallSide::v(sendbuf, of(cart, sendcounts), of(cart, sdispls), sendtype),
              CallSide::v(recvbuf, of(cart, recvcounts), of(cart, rdispls), recvtype), "alltoallv_init");
}

int commpass_cart_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], commpass_cart cart) {
  return run(cart, CallSide::w(sendbuf, of(cart, sendcounts), of(cart, sdispls), of(cart, sendtypes)),
             CallSide::w(recvbuf, of(cart, recvcounts), of(cart, rdispls), of(cart, recvtypes)), "alltoallw");
}
int commpass_cart_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], commpass_cart cart,
                                 commpass_cart_exchange* exchange) {
  return init(cart, exchange, CallSide::w(sendbuf, of(cart, sendcounts), of(cart, sdispls), of(cart, sendtypes)),
              CallSide::w(recvbuf, of(cart, recvcounts), of(cart, rdispls), of(cart, recvtypes)), "alltoallw_init");
}

int commpass_cart_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, commpass_cart cart) {
  return run(cart, CallSide::one(sendbuf, sendcount, sendtype), CallSide::equal(recvbuf, recvcount, recvtype),
             "allgather");
}
int commpass_cart_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, commpass_cart cart,
                                 commpass_cart_exchange* exchange) {
  return init(cart, exchange, CallSide::one(sendbuf, sendcount, sendtype),
              CallSide::equal(recvbuf, recvcount, recvtype), "allgather_init");
}

int commpass_cart_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, commpass_cart cart) {
  return run(cart, CallSide::one(sendbuf, sendcount, sendtype),
             CallSide::v(recvbuf, of(cart, recvcounts), of(cart, rdispls), recvtype), "allgatherv");
}
int commpass_cart_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                                  commpass_cart cart, commpass_cart_exchange* exchange) {
  return init(cart, exchange, CallSide::one(sendbuf, sendcount, sendtype),
              CallSide::v(recvbuf, of(cart, recvcounts), of(cart, rdispls), recvtype), "allgatherv_init");
}

int commpass_cart_allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             commpass_cart cart) {
  return run(cart, CallSide::one(sendbuf, sendcount, sendtype),
             CallSide::w(recvbuf, of(cart, recvcounts), of(cart, rdispls), of(cart, recvtypes)), "allgatherw");
}
int commpass_cart_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                  commpass_cart cart, commpass_cart_exchange* exchange) {
  return init(cart, exchange, CallSide::one(sendbuf, sendcount, sendtype),
              CallSide::w(recvbuf, of(cart, recvcounts), of(cart, rdispls), of(cart, recvtypes)), "allgatherw_init");
}

int commpass_cart_start(commpass_cart_exchange exchange) {
  return with_exchange(exchange, [](auto& e) { e.start(); });
}
int commpass_cart_test(commpass_cart_exchange exchange, int* complete) {
  return with_exchange(exchange, [&](auto& e) { *complete = e.test() ? 1 : 0; });
}
int commpass_cart_wait(commpass_cart_exchange exchange) {
  return with_exchange(exchange, [](auto& e) { e.wait(); });
}
int commpass_cart_exchange_free(commpass_cart_exchange* exchange) {
  delete *exchange;
  *exchange = nullptr;
  return COMMPASS_SUCCESS;
}

int commpass_halo_init(commpass_comm comm, int d, const int dimensions[], const int periods[], const int extent[],
                       const int depth[], int cell_bytes, void* cells, commpass_cart_exchange* exchange) {
  *exchange = nullptr;
  return guarded([&] {
    const auto use = commpass::c::require_communicator(comm);
    const auto& context = comm->engines.context;
    Grid grid;
    commpass::HaloArray array;
    commpass::all_or_none(context->comm.get(), [&] {
      grid = grid_of(d, dimensions, periods);
      require_list("commpass_cart", extent, d, "extent");
      require_list("commpass_cart", depth, d, "depth");
      array = {{extent, extent + d}, {depth, depth + d}, cell_bytes};
    });
    *exchange = new commpass_cart_exchange_state{
        commpass::plan_halo_exchange(context, grid, array, cells, commpass::HaloOptions{})};
  });
}
