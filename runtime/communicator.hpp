// The front door of the library: a communicator that picks the cheapest way to run an exchange, and runs it.
//
//   commpass::Communicator communicator(MPI_COMM_WORLD, "my-machine");
//   auto exchange = communicator.neighbor_exchange(send_buffer, sends, receive_buffer, receives);
//   for (…) { exchange.start(); …; exchange.wait(); }
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "model/machine/limits.hpp"
#include "runtime/alltoall/alltoallv.hpp"
#include "runtime/alltoall/started_alltoallv.hpp"
#include "runtime/cartesian/cart_neighborhood.hpp"
#include "runtime/cartesian/halo_exchange.hpp"
#include "runtime/indexed/sparse_allreduce.hpp"
#include "runtime/neighbor/neighbor_exchange.hpp"
#include "runtime/sparse/sparse_exchange.hpp"

namespace commpass {

struct Engines;
class Layout;
struct Machine;

/// Which rank sits where, as text in the forms of COMMPASS_LAYOUT: "4x8", "0,0,1".
struct GivenLayout {
  std::string text{};  ///< empty: none is given

  GivenLayout() = default;
  /// As text, or that of a Layout, which programs of Commpass itself have.
  // NOLINTBEGIN(google-explicit-constructor)
  GivenLayout(const char* given) : text(given) {}
  GivenLayout(std::string given) : text(std::move(given)) {}
  GivenLayout(const Layout& given);
  // NOLINTEND(google-explicit-constructor)
};

/// Settings that precede the environment and the profile.
struct CommunicatorOptions {
  GivenLayout layout{};           ///< none: the hint, else COMMPASS_LAYOUT, else what MPI and hwloc say
  MPI_Info info = MPI_INFO_NULL;  ///< hints: the keys commpass_profile, commpass_layout, commpass_strategy … in the
                                  ///< place of COMMPASS_PROFILE … (docs/environment.md). Those that the given
                                  ///< communicator has (MPI_Comm_get_info) hold, too, but these go before
  Limits limits{};                ///< those that are there go before the hint commpass_limits, COMMPASS_LIMITS and the
                                  ///< profile (docs/profiles.md)
};

/// A communicator of our own beside a user's, with a machine profile. Move-only. With MPI_THREAD_MULTIPLE threads may
/// use different Communicators, and handles from different ones, at the same time; one Communicator belongs to one
/// thread at a time. All operations are collective; where ranks have different environments or give different options,
/// those of rank 0 hold, but the options of alltoallv and alltoall must be the same on all.
///
/// Destroying it, or assigning to it, is collective, and so is destroying the last of the exchanges that outlive it:
/// both free MPI communicators. All ranks destroy their Communicators in the same order; a Communicator and its
/// exchanges in any. After MPI_Finalize nothing is freed any more.
///
/// If the profile has no parameters for messages that the layout has (it was measured on one node, and there are two),
/// nothing can be chosen, but all exchanges run: neighbour exchanges standard, all-to-alls that are called once MPI's
/// own, sparse exchanges direct+nbx. Rank 0 says so once on stderr.
class Communicator {
 public:
  /// @param profile  name or file of a profile, read by rank 0; empty: COMMPASS_PROFILE, else the one that was measured
  /// on this machine, else a built-in one, of which rank 0 says so once on stderr
  /// @throws Error, the same on every rank
  explicit Communicator(MPI_Comm comm, const std::string& profile = {}, const CommunicatorOptions& options = {});
  /// @param machine  of commpass/predict.hpp; the same on every rank
  Communicator(MPI_Comm comm, const Machine& machine, const CommunicatorOptions& options = {});
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  const Layout& layout() const;    ///< complete in model/machine/layout.hpp, for programs of Commpass itself
  const Machine& machine() const;  ///< complete in commpass/predict.hpp
  MPI_Comm mpi() const;            ///< ours: do not send on it

  /// Takes earlier measurements (ExchangeOptions::planner) from a file, in place of COMMPASS_WISDOM's, and keeps
  /// later ones there. Rank 0 reads and writes it, and the file need not be there yet. One that is no wisdom is left
  /// alone, and rank 0 says so on stderr. Collective.
  /// @param file  of rank 0; empty: none
  /// @throws Error, the same on every rank, if there is no memory
  void use_wisdom(const std::string& file);

  /// Names the stream in which the user's work on this rank's device runs. Exchanges that are planned or called from
  /// now on wait, when they begin, for the work that the stream has then. Later work in the stream waits until the
  /// exchanged data is there (docs/devices.md). Not collective.
  /// @param stream  a cudaStream_t or hipStream_t, alive as long as these exchanges; null, as at first: the default one
  void use_stream(void* stream);

  /// Plans an exchange: the pattern is known, and the data moves many times.
  /// The k-th edge from rank i to rank j at i is the k-th edge from i at j; both must have the same size. Edges to
  /// oneself are copied, edges of 0 bytes move nothing. What a rank sends to several others from one place (send edges
  /// with the same offset and size) travels once as far as the strategy takes it the same way.
  ///
  /// To select, some ranks get all edges and share the work of pricing strategies: as many of each node, and with as
  /// many threads, as 2 GiB of the node hold with some 300 bytes for each edge, at least one; no threads are started
  /// where MPI was initialized with MPI_THREAD_SINGLE. Patterns of more than options.most_edges_gathered edges (by
  /// default 2^22) are priced by statistics, to which each rank adds a few numbers: as if messages of the mean size
  /// went to ranks drawn at random. A named strategy is not selected.
  ///
  /// Where all ranks have planned the same edges with the same options before, among the last 16 such plans, one
  /// agreement is all that it takes: the earlier choice and results are used again, for these buffers.
  /// @param send_buffer, receive_buffer  must not overlap; may be null where a rank sends or receives nothing
  /// @throws Error, the same on every rank, if any rank fails
  Exchange neighbor_exchange(const void* send_buffer, std::span<const SendEdge> sends, void* receive_buffer,
                             std::span<const ReceiveEdge> receives, const ExchangeOptions& options = {});

  /// As neighbor_exchange, with elements of datatypes, which may have gaps. The k-th block from rank i to rank j at i
  /// is the k-th from i at j. Blocks that are the same elements travel once as far as they go the same way, so that a
  /// block for all neighbours is an allgather. @throws Error, the same on every rank, if any rank fails
  TypedExchange typed_neighbor_exchange(const void* send_buffer, std::span<const TypedBlock> sends,
                                        void* receive_buffer, std::span<const TypedBlock> receives,
                                        const ExchangeOptions& options = {});

  /// As MPI_Alltoallv, in which every rank may have something for every rank: counts and displacements in elements, any
  /// datatypes, MPI_IN_PLACE as the send buffer. Counts may differ from call to call; the strategy of a call is chosen
  /// by what all ranks sent in the call before it; where a sum over all ranks is predicted to take more than 2 % of the
  /// call, by what they sent in one of the last 16, since they tell each other the less often the shorter the calls are
  /// (always at the 1st, 2nd, 4th, 8th …; if the strategy is named, never). Rank 0 chooses for sizes and shares
  /// of empty blocks to a factor of two, and all wait; so new sizes at first run the strategy of the nearest ones,
  /// until choosing takes at most 10 % of the time of their calls so far, sooner the farther they are. MPI_Alltoallv
  /// itself (mpi) is chosen where its price is known and the least; in place, standard runs instead. If options.planner
  /// asks for it, calls are timed and the fastest stays (docs/cpp.md). Any other strategy's first call plans it: a rank
  /// then needs some 100 bytes for each rank and stage, until the communicator is destroyed.
  ///
  /// As with MPI, what a rank sends must be what its receiver expects, and an error in the arguments is that of its
  /// rank: the others wait for it. Where counts disagree no rank gets wrong numbers; docs/failures.md says which rank
  /// throws, and when a new Communicator is needed. A datatype whose elements have 2^31 bytes or more is refused.
  /// @throws InputError on a rank whose arguments are wrong, that does not get what its counts say, or that has no
  /// memory; Error, the same on every rank, for
  ///   a bad strategy
  void alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                 MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts, std::span<const int> rdispls,
                 MPI_Datatype recvtype, const AlltoallvOptions& options = {});
  /// As MPI_Alltoall. Chosen by the size of its blocks, which all ranks know. @throws as alltoallv
  void alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, const AlltoallvOptions& options = {});
  /// As MPI_Alltoallv_init: planned like a neighbor_exchange, with the same choice, and run many times with the same
  /// counts. Datatypes must live as long as it does. @throws Error, the same on every rank, as neighbor_exchange, and
  /// for MPI_IN_PLACE
  PersistentAlltoallv alltoallv_init(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                                     MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                                     std::span<const int> rdispls, MPI_Datatype recvtype,
                                     const ExchangeOptions& options = {});
  /// As MPI_Alltoallw: displacements in bytes, and a datatype for each rank. By mpi it runs as MPI_Alltoallv of bytes,
  /// into which blocks are packed unless no type of a side has gaps. @throws as alltoallv
  void alltoallw(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                 std::span<const MPI_Datatype> sendtypes, void* recvbuf, std::span<const int> recvcounts,
                 std::span<const int> rdispls, std::span<const MPI_Datatype> recvtypes,
                 const AlltoallvOptions& options = {});
  /// As MPI_Alltoallw_init. @throws as alltoallv_init
  PersistentAlltoallv alltoallw_init(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                                     std::span<const MPI_Datatype> sendtypes, void* recvbuf,
                                     std::span<const int> recvcounts, std::span<const int> rdispls,
                                     std::span<const MPI_Datatype> recvtypes, const ExchangeOptions& options = {});
  /// The three above without waiting for any other rank, as MPI_Ialltoallv, MPI_Ialltoall and MPI_Ialltoallw. Several
  /// may be in flight; ranks start them in the same order, that of the three above among them, and may complete them in
  /// any. Buffers and datatypes must live, and buffers not change, until it is complete.
  ///
  /// Without a named strategy it runs the choice of rank 0 for the nearest blocks in calls that wait: `alltoallv` or
  /// `alltoall`. If there were none, standard runs. These calls are not surveyed. A rank finds the structure of a
  /// strategy that forwards alone, which takes it some 10 ns for each pair of ranks and stage the first time; above
  /// 2048 ranks a call that waits has to have run it before, else the choice is standard.
  /// @throws as alltoallv; NotApplicable for a named strategy, on all ranks, that has not run on this number of ranks
  StartedAlltoallv start_alltoallv(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                                   MPI_Datatype sendtype, void* recvbuf, std::span<const int> recvcounts,
                                   std::span<const int> rdispls, MPI_Datatype recvtype,
                                   const AlltoallvOptions& options = {});
  StartedAlltoallv start_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  int recvcount, MPI_Datatype recvtype, const AlltoallvOptions& options = {});
  StartedAlltoallv start_alltoallw(const void* sendbuf, std::span<const int> sendcounts, std::span<const int> sdispls,
                                   std::span<const MPI_Datatype> sendtypes, void* recvbuf,
                                   std::span<const int> recvcounts, std::span<const int> rdispls,
                                   std::span<const MPI_Datatype> recvtypes, const AlltoallvOptions& options = {});
  /// The strategy of the last alltoallv or alltoall that was waited for, in text form; empty: there was none.
  const std::string& last_alltoallv_strategy() const;
  /// Plans an exchange of values by their global indices: finds out by sparse exchanges who owns what this rank needs.
  /// If all ranks own ranges, each learns all of them; otherwise the ranks keep a directory together meanwhile, and
  /// each needs memory for about as many indices as it owns and needs.
  ///
  /// Of values that several ranks need, those that the same ranks need are grouped, where that spares the network more
  /// bytes than the edges cost; of the ways with and without groups the one that is predicted to be faster is run (with
  /// groups, if the strategy is named).
  /// @param needed       in any order, also several times, also own ones
  /// @param value_bytes  1 or more, the same on every rank
  /// @throws Error, the same on every rank, if any rank fails, or no rank or two ranks own an index
  IndexedExchange indexed_exchange(OwnedBy owned, std::span<const Index> needed, Bytes value_bytes,
                                   const IndexedOptions& options = {});

  /// Plans a reduction among neighbours: this rank contributes to the result of each of its destinations, and its own
  /// result combines the contributions of the ranks that name it. These are found out, and contributions are added
  /// where they meet, as on the way back of an indexed exchange:
  ///
  ///   exchange.reverse_add(contributions, result);
  ///
  /// A result without any contribution is left as it is. `forward`, `reverse`, `overwrite` and `ghost_values` of the
  /// options do not count.
  /// @param contributions  the order in which they lie in the array, one after another; to one rank also several,
  ///                       which are added first, and to this rank itself
  /// @param result_values  of this rank: as many as each contribution to it has
  /// @param value_bytes    1 or more, the same on every rank
  /// @throws Error, the same on every rank, if any rank fails
  IndexedExchange neighbor_reduce_scatter(std::span<const Contribution> contributions, std::int64_t result_values,
                                          Bytes value_bytes, const IndexedOptions& options = {});

  /// Plans a reduction of sparse vectors: each rank names the indices of its values, and gets there the sums of all
  /// ranks. A rank that wants further sums contributes zeros there. `forward`, `reverse`, `overwrite` and
  /// `ghost_values` of the options do not count.
  /// @param indices      0 or more, in any order, also several times
  /// @param value_bytes  1 or more, the same on every rank
  /// @throws Error, the same on every rank, if any rank fails
  SparseAllreduce sparse_allreduce(std::span<const Index> indices, Bytes value_bytes,
                                   const IndexedOptions& options = {});

  /// A grid of all ranks, on which every rank has neighbours at the same offsets, with a communicator and a choice for
  /// all sizes of its own: Cartesian collectives (runtime/cartesian/cart_neighborhood.hpp).
  /// @param neighborhood  the same on every rank
  /// @throws Error, the same on every rank
  CartNeighborhood cart_neighborhood(const Neighborhood& neighborhood, const CartOptions& options = {});
  /// The same from a distributed-graph communicator whose ranks have neighbours at the same offsets of a grid; nothing
  /// if they have not. Blocks are those of the graph's neighbours, in their order.
  /// @param graph  of the same ranks in the same order
  std::optional<CartNeighborhood> cart_neighborhood(MPI_Comm graph, const Grid& grid, const CartOptions& options = {});

  /// The halo of an array on a grid of all ranks: 2 messages for each dimension, with which the corners move, or more
  /// in fewer stages where that is predicted to be faster.
  /// @param cells  the array with its halo (HaloArray::bytes)
  /// @throws Error, the same on every rank
  HaloExchange halo_exchange(const Grid& grid, const HaloArray& array, void* cells, const HaloOptions& options = {});

  /// Sparse dynamic data exchange: every rank names its messages, and gets those for it. All ranks take part, also
  /// with nothing. Messages of 0 bytes arrive; several messages to one rank arrive in order; so do those to oneself.
  ///
  /// A strategy is chosen by what all ranks have sent in an earlier exchange of these two functions: in
  /// the last one if its discovery has told them on the way (direct+nbx, direct+rma), else in the 1st, 2nd, 4th, 8th or
  /// every 16th exchange, after which they tell each other. Those that start_… begin do not count, since ranks may
  /// complete them at different times; and where rank 0 has not chosen yet for what they send, they run what it has for
  /// the nearest. (When that is done in blocking ones is as in alltoallv.) A rank needs memory for its own messages
  /// and, while they are forwarded, for those of its node; what a discovery needs besides is said in
  /// model/route/sparse_strategy.cpp and docs/model.md.
  ///
  /// direct+rma keeps a window whose slots grow with the messages; where it was not named by the caller, and messages
  /// are too large for it or a rank has several for another one, other strategies are chosen from then on. start_…
  /// chooses it only where it is named, and needs a window that is there already.
  /// @param send_buffer  may lie on a device; received messages are in host memory (docs/devices.md)
  /// @param sends        offsets and sizes in bytes
  /// @throws Error, the same on every rank, if any rank fails
  ReceivedMessages sparse_alltoallv(const void* send_buffer, std::span<const SendEdge> sends,
                                    const SparseOptions& options = {});
  /// The same with `bytes` bytes for each destination, one after another in the buffer.
  /// @param bytes  the same on every rank, but a rank without destinations may say 0
  ReceivedMessages sparse_alltoall(const void* send_buffer, std::span<const Rank> destinations, Bytes bytes,
                                   const SparseOptions& options = {});
  /// The strategy of the last of these two that was complete, in text form; empty: there was none. Those that plan an
  /// indexed exchange count.
  std::string last_sparse_strategy() const;

  /// The same without waiting. direct+rma is chosen only if a blocking exchange has made slots that are large enough.
  /// Several may be in flight; ranks start them in the same order and may complete them in any. The buffer must not
  /// change until it is complete.
  SparseExchange start_sparse_alltoallv(const void* send_buffer, std::span<const SendEdge> sends,
                                        const SparseOptions& options = {});
  SparseExchange start_sparse_alltoall(const void* send_buffer, std::span<const Rank> destinations, Bytes bytes,
                                       const SparseOptions& options = {});

 private:
  std::unique_ptr<Engines> engines_;
};

}  // namespace commpass
