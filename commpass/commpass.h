/* Commpass from C: exchanges that are planned once and run many times, with neighbours, between all ranks or by global
 * indices; sparse dynamic data exchanges, in which every rank knows only what it sends; all-to-alls; and Cartesian
 * collectives.
 *
 *   commpass_comm comm;
 *   commpass_comm_create(MPI_COMM_WORLD, "my-machine", &comm);
 *   commpass_received got;
 *   commpass_alltoallv_crs_alloc(n, dest, counts, displs, MPI_DOUBLE, values, MPI_DOUBLE, &got, NULL, comm);
 *   for (int i = 0; i < got.nnz; ++i) use(got.src[i], got.counts[i], (double*)got.values + got.displs[i]);
 *   commpass_received_free(&got);
 *   commpass_comm_free(&comm);
 *
 * Every function returns COMMPASS_SUCCESS or an error code; commpass_error_text() describes the error in one sentence.
 * All but commpass_version, commpass_error_text, commpass_received_free, predictions, tests, waits and local functions
 * are collective. A communicator, and each object made with it, belongs to one thread at a time. With
 * MPI_THREAD_MULTIPLE threads may use different ones at once. */
#ifndef COMMPASS_H
#define COMMPASS_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  COMMPASS_SUCCESS = 0,
  COMMPASS_ERROR_INPUT = 1,     /* an argument is wrong, here or on another rank */
  COMMPASS_ERROR_TRUNCATED = 2, /* more came than there is room for; the counts say how much. On this rank only */
  COMMPASS_ERROR_MPI = 3,       /* an MPI call failed */
  COMMPASS_ERROR_OTHER = 4      /* out of memory, for example */
};

/* The sentence about the last error of the calling thread; never NULL. */
const char* commpass_error_text(void);

/* "MAJOR.MINOR.PATCH" of the library that runs. Local. */
const char* commpass_version(void);

/* A communicator of Commpass beside the caller's. */
typedef struct commpass_comm_state* commpass_comm;

/* profile: name or file of a machine profile, read by rank 0; NULL or "": COMMPASS_PROFILE, else the one that was
 * measured on this machine, else a built-in one, of which rank 0 says so once on stderr.
 * On failure *comm is NULL. */
int commpass_comm_create(MPI_Comm mpi_comm, const char* profile, commpass_comm* comm);
/* The same with a layout: "NODESxRANKS", "NODESxSOCKETSxRANKS", "GROUPSxNODESxSOCKETSxRANKS" or a node for each rank
 * ("0,0,1"), the same on every rank; NULL or "": COMMPASS_LAYOUT, else what MPI and hwloc say. */
int commpass_comm_create_laid_out(MPI_Comm mpi_comm, const char* profile, const char* layout, commpass_comm* comm);
/* The same with hints, which go before the variables of the environment of their names in capitals: commpass_profile,
 * commpass_layout, commpass_strategy, commpass_alltoallv_strategy, commpass_sparse_strategy, commpass_planner,
 * commpass_wisdom. Those that MPI keeps of mpi_comm (MPI_Comm_get_info) hold in all three functions, after arguments
 * and info. Those of rank 0 hold. */
int commpass_comm_create_with_info(MPI_Comm mpi_comm, MPI_Info info, commpass_comm* comm);
/* Takes earlier measurements (commpass_planner below) from a file, in place of COMMPASS_WISDOM's, and keeps there
 * later ones. Collective. Rank 0 reads and writes it; it need not be there yet. NULL or "": none. */
int commpass_comm_use_wisdom(commpass_comm comm, const char* file);
/* Names the stream of this rank's device on which its work is: a cudaStream_t or hipStream_t, NULL, as at first, for
 * the default one. Later plans and calls wait for it when they begin, and it waits for the data that they receive
 * (docs/devices.md). Local. */
int commpass_comm_use_stream(commpass_comm comm, void* stream);
/* Sets *comm to NULL. NULL is allowed. */
int commpass_comm_free(commpass_comm* comm);

/* What an exchange would take on a machine, by its profile: local, and without any MPI call but one that asks for the
 * library's name, so also before MPI_Init and for machines elsewhere. On failure *prediction is NULL. */
typedef struct commpass_prediction_state* commpass_prediction;
/* profile   as above; layout: of all ranks, as above, but never NULL
 * edges     how many messages there are; bytes[i] go from rank source[i] to dest[i], of "ranks" ranks
 * strategy  that it is priced for; NULL or "": the cheapest, as programs choose it */
int commpass_predict(const char* profile, const char* layout, int ranks, int edges, const int* source, const int* dest,
                     const int64_t* bytes, const char* strategy, commpass_prediction* prediction);
/* The same for a pattern as text, such as "random:ranks=64,degree=8,bytes=1KiB" (commpass patterns lists them). */
int commpass_predict_generated(const char* profile, const char* layout, const char* pattern, const char* strategy,
                               commpass_prediction* prediction);
/* As long as the prediction: the strategy, its seconds for one exchange, and why. */
const char* commpass_prediction_strategy(commpass_prediction prediction);
double commpass_prediction_seconds(commpass_prediction prediction);
const char* commpass_prediction_explanation(commpass_prediction prediction);
/* Sets *prediction to NULL. NULL is allowed. */
int commpass_prediction_free(commpass_prediction* prediction);

/* Received messages, by source; messages of one source in its order. Memory of Commpass, freed by
 * commpass_received_free.
 */
typedef struct commpass_received {
  int nnz;      /* messages */
  int size;     /* elements of recvtype in all */
  int* src;     /* nnz ranks */
  int* counts;  /* nnz numbers of elements */
  int* displs;  /* nnz positions in values, in elements */
  void* values; /* size elements of recvtype, by its extent */
} commpass_received;
void commpass_received_free(commpass_received* received);

/* Sparse exchange of messages of one size; after MPIX_Alltoall_crs of the sparse dynamic data exchange paper
 * (Geyko et al., section III).
 *
 * send_nnz      how many messages this rank sends
 * dest          to whom
 * sendcount     elements of sendtype in each; the same bytes on every rank
 * sendvals      send_nnz * sendcount elements, message after message
 * recv_nnz      in: for how many messages there is room; out: how many have come
 * src           out: from whom, ascending
 * recvcount     elements of recvtype in each
 * recvvals      out: message after message
 * strategy      "ROUTE+DISCOVERY", the same on every rank; NULL: COMMPASS_SPARSE_STRATEGY, else the cheapest
 *
 * Datatypes may be derived, with gaps. Without gaps sendvals and recvvals may lie on a device (docs/devices.md). */
int commpass_alltoall_crs(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype, const void* sendvals,
                          int* recv_nnz, int* src, int recvcount, MPI_Datatype recvtype, void* recvvals,
                          const char* strategy, commpass_comm comm);
/* The same, with memory of Commpass for received messages. */
int commpass_alltoall_crs_alloc(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype,
                                const void* sendvals, MPI_Datatype recvtype, commpass_received* received,
                                const char* strategy, commpass_comm comm);

/* Sparse exchange of messages of different sizes; after MPIX_Alltoallv_crs.
 *
 * sendcounts, sdispls      elements of sendtype in each message, and where it begins in sendvals
 * recv_nnz, recv_size      in: for how many messages and elements there is room; out: how many have come
 * src, recvcounts, rdispls out: of each message
 * recvvals                 out: recv_size elements, message after message */
int commpass_alltoallv_crs(int send_nnz, const int* dest, const int* sendcounts, const int* sdispls,
                           MPI_Datatype sendtype, const void* sendvals, int* recv_nnz, int* recv_size, int* src,
                           int* recvcounts, int* rdispls, MPI_Datatype recvtype, void* recvvals, const char* strategy,
                           commpass_comm comm);
int commpass_alltoallv_crs_alloc(int send_nnz, const int* dest, const int* sendcounts, const int* sdispls,
                                 MPI_Datatype sendtype, const void* sendvals, MPI_Datatype recvtype,
                                 commpass_received* received, const char* strategy, commpass_comm comm);

/* Exchanges between all pairs of ranks, with the arguments of MPI_Alltoallv and MPI_Alltoall, MPI_IN_PLACE among them.
 *
 * strategy  of exchanges that gather nothing, such as "tuna,radix=4" or "standard,window=32"; the same on every rank.
 *           NULL: COMMPASS_ALLTOALLV_STRATEGY, else the cheapest for what all ranks sent in the call before
 *
 * As with MPI, an error in a rank's counts is that of this rank: the others wait for it. */
int commpass_alltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                       void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                       const char* strategy, commpass_comm comm);
int commpass_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                      MPI_Datatype recvtype, const char* strategy, commpass_comm comm);

/* As MPI_Alltoallw: displacements in bytes, and a datatype for each rank. */
int commpass_alltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                       void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                       const char* strategy, commpass_comm comm);

/* An exchange that is planned, or one in flight that was started. */
typedef struct commpass_exchange_state* commpass_exchange;

/* Plan an exchange that runs many times with the same counts. Collective; on failure *exchange is NULL.
 *
 * outdegree, dest  to whom this rank sends, also several times to one; the k-th block from rank i to rank j at i is the
 *                  k-th from i at j
 * indegree, src    from whom it receives
 * sdispls, rdispls in elements; of w in bytes
 * info             MPI_INFO_NULL, or with the keys commpass_strategy (a strategy, the same on every rank),
 *                  commpass_calls (how often the exchange will run, if that is not often), commpass_planner (estimate:
 *                  by prices alone; adaptive: by timing some strategies in the first exchanges; measure or patient: by
 *                  timing some or all before; else COMMPASS_PLANNER, else adaptive), commpass_planner_seconds (how
 *                  long they are timed before) and commpass_any_buffers
 *                  ("true": commpass_start_buffers may give other buffers every time, at the price of a copy)
 *
 * A further plan of the same pattern with the same info takes one agreement of all ranks, if it is among the last 16.
 *
 * Datatypes and buffers must outlive the exchange. No MPI_IN_PLACE. A neighbourhood allgather sends the same elements
 * to all: they travel once as far as the strategy takes them the same way. */
int commpass_neighbor_alltoallv_init(const void* sendbuf, int outdegree, const int* dest, const int* sendcounts,
                                     const int* sdispls, MPI_Datatype sendtype, void* recvbuf, int indegree,
                                     const int* src, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                                     MPI_Info info, commpass_comm comm, commpass_exchange* exchange);
int commpass_neighbor_alltoallw_init(const void* sendbuf, int outdegree, const int* dest, const int* sendcounts,
                                     const MPI_Aint* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                                     int indegree, const int* src, const int* recvcounts, const MPI_Aint* rdispls,
                                     const MPI_Datatype* recvtypes, MPI_Info info, commpass_comm comm,
                                     commpass_exchange* exchange);
int commpass_neighbor_allgatherv_init(const void* sendbuf, int outdegree, const int* dest, int sendcount,
                                      MPI_Datatype sendtype, void* recvbuf, int indegree, const int* src,
                                      const int* recvcounts, const int* rdispls, MPI_Datatype recvtype, MPI_Info info,
                                      commpass_comm comm, commpass_exchange* exchange);
int commpass_alltoallv_init(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                            void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                            MPI_Info info, commpass_comm comm, commpass_exchange* exchange);
int commpass_alltoallw_init(const void* sendbuf, const int* sendcounts, const int* sdispls,
                            const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                            const MPI_Datatype* recvtypes, MPI_Info info, commpass_comm comm,
                            commpass_exchange* exchange);

/* Begin it; the same with other buffers (commpass_any_buffers). Every rank starts and completes it, several in any
 * order. */
int commpass_start(commpass_exchange exchange);
int commpass_start_buffers(const void* sendbuf, void* recvbuf, commpass_exchange exchange);
/* complete  out: not 0 if it is */
int commpass_test(commpass_exchange exchange, int* complete);
int commpass_wait(commpass_exchange exchange);
/* Completes an exchange in flight. Sets *exchange to NULL. NULL is allowed. */
int commpass_exchange_free(commpass_exchange* exchange);

/* Local: the strategy that runs, and why. As long as the exchange; while it tries strategies (adaptive), until these
 * are called again. */
const char* commpass_exchange_strategy(commpass_exchange exchange);
const char* commpass_exchange_explanation(commpass_exchange exchange);
/* Local; negative: the strategy was named, or nothing has a price. */
double commpass_exchange_predicted_seconds(commpass_exchange exchange);

/* Plan an exchange of values by their global indices, from 0 up: who owns what this rank needs is found out.
 * Collective.
 *
 * owned        what this rank owns, in the order of its values; with _range: begin ... end-1
 * needed       what it needs, in the order of its ghost values: in any order, also several times, also own ones
 * value_bytes  of each value, the same on every rank
 * reverse      not 0: commpass_start_reverse will be called
 * info         MPI_INFO_NULL, or with the keys commpass_strategy, commpass_deterministic ("true": on the way back
 *              the owner combines all values, its own first, then those of rank after rank) and commpass_overwrite
 *              ("true": an owned value that is needed is replaced by its ghost values, and not combined with them) */
int commpass_indexed_init(const int64_t* owned, int64_t owned_size, const int64_t* needed, int64_t needed_size,
                          int value_bytes, int reverse, MPI_Info info, commpass_comm comm, commpass_exchange* exchange);
int commpass_indexed_range_init(int64_t begin, int64_t end, const int64_t* needed, int64_t needed_size, int value_bytes,
                                int reverse, MPI_Info info, commpass_comm comm, commpass_exchange* exchange);
/* Begins to bring each needed value to its ghost value. commpass_test and commpass_wait complete it. */
int commpass_start_forward(const void* owned_values, void* ghost_values, commpass_exchange exchange);
/* Begins to combine each ghost value with the owned value of its index. Values for the same owned value may be combined
 * where they meet on their way, in the same order every time, unless the exchange is deterministic.
 *
 * type, op  values are elements of this type; any operation of MPI on them, such as MPI_SUM. One that is not
 * commutative needs an exchange that is deterministic */
int commpass_start_reverse(const void* ghost_values, void* owned_values, MPI_Datatype type, MPI_Op op,
                           commpass_exchange exchange);

/* Plan a reduction among neighbours: this rank contributes to the result of each destination, and its own result
 * combines the contributions of the ranks that name it. Collective.
 *
 *   commpass_start_reverse(contributions, result, type, op, exchange); and commpass_wait(exchange);
 *
 * outdegree, dest  to whose results this rank contributes: also several times to one, and to itself
 * sendcounts       values of each contribution, as many as that result has; they lie one after another
 * recvcount        values of the result of this rank, which stays as it is if no rank contributes
 * value_bytes      of each value, the same on every rank
 * info             as above, without commpass_overwrite */
int commpass_neighbor_reduce_scatter_init(int outdegree, const int* dest, const int* sendcounts, int recvcount,
                                          int value_bytes, MPI_Info info, commpass_comm comm,
                                          commpass_exchange* exchange);

/* Plan a reduction of sparse vectors: each rank has values at some indices, from 0 up, and gets there the combined
 * values of all ranks. Collective.
 *
 * indices      in any order, also several times: their values are combined first
 * value_bytes  of each value, the same on every rank
 * info         as above, without commpass_overwrite */
int commpass_sparse_allreduce_init(const int64_t* indices, int64_t indices_size, int value_bytes, MPI_Info info,
                                   commpass_comm comm, commpass_exchange* exchange);
/* Begins it. commpass_test and commpass_wait complete it.
 *
 * values, sums  one for each index, in their order; may be the same array
 * type, op      as of commpass_start_reverse */
int commpass_start_allreduce(const void* values, void* sums, MPI_Datatype type, MPI_Op op, commpass_exchange exchange);

/* The all-to-alls above without waiting for any other rank, as MPI_Ialltoallv, MPI_Ialltoall and MPI_Ialltoallw.
 * commpass_test and commpass_wait move it on; buffers must not change, and datatypes live, before it is complete.
 * Several may be in flight: ranks start them, and call those above, in the same order, and complete them in any.
 *
 * strategy  NULL: COMMPASS_ALLTOALLV_STRATEGY, else the choice for similar blocks in calls that wait, and
 *           standard if there was none */
int commpass_ialltoallv(const void* sendbuf, const int* sendcounts, const int* sdispls, MPI_Datatype sendtype,
                        void* recvbuf, const int* recvcounts, const int* rdispls, MPI_Datatype recvtype,
                        const char* strategy, commpass_comm comm, commpass_exchange* exchange);
int commpass_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                       MPI_Datatype recvtype, const char* strategy, commpass_comm comm, commpass_exchange* exchange);
int commpass_ialltoallw(const void* sendbuf, const int* sendcounts, const int* sdispls, const MPI_Datatype* sendtypes,
                        void* recvbuf, const int* recvcounts, const int* rdispls, const MPI_Datatype* recvtypes,
                        const char* strategy, commpass_comm comm, commpass_exchange* exchange);

/* The sparse exchanges above without waiting. commpass_test and commpass_wait move it on; sendvals must not change
 * before it is complete. */
int commpass_ialltoall_crs(int send_nnz, const int* dest, int sendcount, MPI_Datatype sendtype, const void* sendvals,
                           MPI_Datatype recvtype, const char* strategy, commpass_comm comm,
                           commpass_exchange* exchange);
int commpass_ialltoallv_crs(int send_nnz, const int* dest, const int* sendcounts, const int* sdispls,
                            MPI_Datatype sendtype, const void* sendvals, MPI_Datatype recvtype, const char* strategy,
                            commpass_comm comm, commpass_exchange* exchange);
/* Completes it, and gives the received messages in memory of Commpass. */
int commpass_exchange_received(commpass_exchange exchange, commpass_received* received);

/* Cartesian neighbourhoods: a grid of all ranks, on which every rank has neighbours at the same offsets.
 *
 * - d, dimensions, periods: as of MPI_Cart_create; the ranks are numbered in the same way.
 * - t, targetrelative: t offsets of d numbers each, one after another. Block i goes to the rank at offset i.
 *   Block i of the receive buffer comes from the rank at minus that offset. Beyond an edge there is no rank.
 * - weights: the amount for each neighbour, or NULL or MPI_UNWEIGHTED.
 * - info: MPI_INFO_NULL, or with the keys commpass_strategy (a strategy; "trivial", "cartesian") and
 *   commpass_counts_differ ("true": blocks for the same neighbour have other sizes on other ranks).
 * - reorder: not 0: ranks may get other places on the grid.
 *
 * All of this must be the same on every rank. On failure *cart is NULL. */
typedef struct commpass_cart_state* commpass_cart;
int commpass_cart_neighborhood_create(commpass_comm comm, int d, const int dimensions[], const int periods[], int t,
                                      const int targetrelative[], const int* weights, MPI_Info info, int reorder,
                                      commpass_cart* cart);
/* Collective. Sets *cart to NULL. NULL is allowed. */
int commpass_cart_free(commpass_cart* cart);

/* Local. Ranks are those of the grid; MPI_PROC_NULL: no rank. */
int commpass_cart_rank(commpass_cart cart, int* rank);
int commpass_cart_relative_rank(commpass_cart cart, const int relative[], int* rank);
int commpass_cart_relative_shift(commpass_cart cart, const int relative[], int* inrank, int* outrank);
/* The offset from the calling rank to another one; around periodic dimensions the shorter way. */
int commpass_cart_relative_coord(commpass_cart cart, int rank, int relative[]);
int commpass_cart_neighbor_count(commpass_cart cart, int* t);
/* The first maxin sources and maxout targets; without weights all weigh 1. Weights may be NULL. */
int commpass_cart_neighbor_get(commpass_cart cart, int maxin, int source[], int sourceweight[], int maxout,
                               int target[], int targetweight[]);

/* The arguments are those of MPI's neighbourhood collectives; displacements of w are in bytes. All ranks call the same
 * operations in the same order, with the same bytes for each neighbour. Those that end in _init are local, and their
 * exchange runs many times; others are collective. */
typedef struct commpass_cart_exchange_state* commpass_cart_exchange;
int commpass_cart_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, commpass_cart cart);
int commpass_cart_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                                MPI_Datatype recvtype, commpass_cart cart, commpass_cart_exchange* exchange);
int commpass_cart_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                            commpass_cart cart);
int commpass_cart_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                                 MPI_Datatype recvtype, commpass_cart cart, commpass_cart_exchange* exchange);
int commpass_cart_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], commpass_cart cart);
int commpass_cart_alltoallw_init(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], commpass_cart cart,
                                 commpass_cart_exchange* exchange);
int commpass_cart_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, commpass_cart cart);
int commpass_cart_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 int recvcount, MPI_Datatype recvtype, commpass_cart cart,
                                 commpass_cart_exchange* exchange);
int commpass_cart_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, commpass_cart cart);
int commpass_cart_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                                  commpass_cart cart, commpass_cart_exchange* exchange);
int commpass_cart_allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             commpass_cart cart);
int commpass_cart_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const int recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                  commpass_cart cart, commpass_cart_exchange* exchange);
int commpass_cart_start(commpass_cart_exchange exchange);
/* complete  out: not 0 if it is */
int commpass_cart_test(commpass_cart_exchange exchange, int* complete);
int commpass_cart_wait(commpass_cart_exchange exchange);
/* Completes an exchange in flight. Sets *exchange to NULL. NULL is allowed. */
int commpass_cart_exchange_free(commpass_cart_exchange* exchange);

/* The halo of an array on a grid of all ranks (docs/cartesian.md): `depth` cells before and after the `extent` cells of
 * each dimension, the last of which lies one cell after the other in memory. Collective. The exchange runs as those
 * above. */
int commpass_halo_init(commpass_comm comm, int d, const int dimensions[], const int periods[], const int extent[],
                       const int depth[], int cell_bytes, void* cells, commpass_cart_exchange* exchange);

#ifdef __cplusplus
}
#endif

#endif
