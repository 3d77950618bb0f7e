// Cartesian neighbourhoods: collective communication on a grid of ranks, in which every rank has neighbours at the same
// offsets.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/cost/cost_model.hpp"
#include "model/pattern/neighborhood.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/state_pointer.hpp"

namespace commpass {

/// Made by the functions of CartNeighborhood that end in _init. Move-only; may outlive its neighbourhood. Destroying it
/// completes an exchange in flight, so buffers and datatypes must outlive it.
/// Its predicted seconds are those of the smallest blocks for which its strategy was chosen.
class CartExchange : public Exchange {
 public:
  explicit CartExchange(Exchange exchange) : Exchange(std::move(exchange)) {}
};

struct Context;
struct CallSide;

/// The same on every rank.
struct CartOptions {
  /// Run this one: "trivial" (a message for each neighbour), "cartesian" (message combining), or any strategy in text
  /// form. Empty: the cheapest for each size. three-step, split, mpi, and staggered strategies, which are not chosen,
  /// make every _init collective.
  std::string strategy{};
  bool reorder = false;  ///< may ranks get other places on the grid, so that fewer bytes cross nodes?
  CostModel model = CostModel::burst;
};

/// How one operation is planned. The same on every rank.
struct CartInitOptions {
  /// Blocks for the same neighbour have other sizes on other ranks. Then planning is collective, since ranks must tell
  /// each other what they forward.
  bool counts_differ = false;
};

/// A grid of ranks with a neighbourhood, and a communicator for it. Move-only. Made by Communicator::cart_neighborhood.
///
/// Block i of a rank goes to the rank at offset i from it, and block i of its receive buffer comes from the rank at
/// minus that offset. Where there is no rank, nothing moves, and that part of a buffer is left alone, as with
/// MPI_PROC_NULL.
///
/// The arguments are those of MPI's neighbourhood collectives (displacements of w are in bytes). All ranks call the
/// same operations in the same order, with the same bytes for each neighbour (else: CartInitOptions). The functions
/// that end in _init are local: they neither communicate nor wait, until the tags of the MPI library have been given
/// away: after MPI_TAG_UB / 16 of them, 2047 or more, one makes a new communicator. An error in arguments is that of
/// its rank. If ranks give other sizes without saying so, an exchange may fail in MPI, or not end.
///
/// Blocking calls keep their last plans, for calls with the same buffers and sizes.
class CartNeighborhood {
 public:
  const Neighborhood& neighborhood() const;
  MPI_Comm comm() const;  ///< ours: its ranks are those of the grid. Do not send on it
  Rank rank() const;      ///< on the grid; with reorder perhaps another one than before
  /// The choices for classes of sizes, their reasons, and the gain of reordering: for people, the same on every rank.
  const std::string& explanation() const;

  /// The rank at an offset from this one; nothing: beyond an edge. @throws InputError for an offset of another length
  std::optional<Rank> relative_rank(std::span<const int> offset) const;
  /// From whom and to whom a block with this offset goes. @throws InputError
  std::pair<std::optional<Rank>, std::optional<Rank>> relative_shift(std::span<const int> offset) const;
  /// The coordinates of a rank. @throws InputError if there is none of that number
  std::vector<int> coordinates(Rank rank) const;
  /// The offset from this rank to another one; around periodic dimensions the shorter way. @throws InputError
  std::vector<int> relative_coordinates(Rank rank) const;
  /// The ranks that block 0, 1, … comes from and goes to; MPI_PROC_NULL: no rank. In the order of the user's blocks.
  std::vector<Rank> sources() const;
  std::vector<Rank> targets() const;

  /// As the collectives of MPI with these names. @throws Error
  void alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype);
  void alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                 MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts, std::span<const int> rdispls,
                 MPI_Datatype recvtype, const CartInitOptions& options = {});
  void alltoallw(const void* sendbuf, std::span<const int> sendcounts, std::span<const MPI_Aint> sdispls,
                 std::span<const MPI_Datatype> sendtypes, void* recvbuf, std::span<const int> recvcounts,
                 std::span<const MPI_Aint> rdispls, std::span<const MPI_Datatype> recvtypes,
                 const CartInitOptions& options = {});
  void allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype);
  void allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  std::span<const int> recvcounts, std::span<const int> rdispls, MPI_Datatype recvtype,
                  const CartInitOptions& options = {});
  void allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  std::span<const int> recvcounts, std::span<const MPI_Aint> rdispls,
                  std::span<const MPI_Datatype> recvtypes, const CartInitOptions& options = {});

  /// As these, planned once and run many times. @throws Error
  CartExchange alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype);
  CartExchange alltoallv_init(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                              MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                              std::span<const int> rdispls, MPI_Datatype recvtype, const CartInitOptions& options = {});
  CartExchange alltoallw_init(const void* sendbuf, std::span<const int> sendcounts, std::span<const MPI_Aint> sdispls,
                              std::span<const MPI_Datatype> sendtypes, void* recvbuf, std::span<const int> recvcounts,
                              std::span<const MPI_Aint> rdispls, std::span<const MPI_Datatype> recvtypes,
                              const CartInitOptions& options = {});
  CartExchange allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                              MPI_Datatype recvtype);
  CartExchange allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               std::span<const int> recvcounts, std::span<const int> rdispls, MPI_Datatype recvtype,
                               const CartInitOptions& options = {});
  CartExchange allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               std::span<const int> recvcounts, std::span<const MPI_Aint> rdispls,
                               std::span<const MPI_Datatype> recvtypes, const CartInitOptions& options = {});

  /// One operation, whatever its form, for the C interface. @param place  its name, for errors
  void run(const CallSide& sends, const CallSide& receives, const char* place, const CartInitOptions& options);
  CartExchange init(const CallSide& sends, const CallSide& receives, const char* place, const CartInitOptions& options);

  struct State;
  /// Communicator::cart_neighborhood makes one.
  explicit CartNeighborhood(std::unique_ptr<State> state);

 private:
  friend std::optional<CartNeighborhood> find_cart_neighborhood(const Context& context, MPI_Comm graph,
                                                                const Grid& grid, const CartOptions& options);
  StatePointer<State> state_;
};

}  // namespace commpass
