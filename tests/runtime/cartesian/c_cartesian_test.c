/* Cartesian collectives from C. */
#include <mpi.h>
#include <stdio.h>

#include "runtime/c_check.h"

/* A ring with neighbours on both sides, and two steps on. */
static void ring(commpass_comm comm, const char* strategy, int periodic) {
  enum { t = 3 };
  const int offsets[2 * t] = {1, 0, -1, 0, 2, 0}, dims[2] = {ranks, 1}, periods[2] = {periodic, 1};
  MPI_Info info = MPI_INFO_NULL;
  if (strategy) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "commpass_strategy", strategy);
  }
  commpass_cart cart;
  CHECK(commpass_cart_neighborhood_create(comm, 2, dims, periods, t, offsets, MPI_UNWEIGHTED, info, 0, &cart) ==
        COMMPASS_SUCCESS);
  int count = 0, source[t], target[t], weight[t], at = -1, next = -1, before = -1, relative[2] = {0, 0};
  CHECK(commpass_cart_neighbor_count(cart, &count) == COMMPASS_SUCCESS && count == t);
  CHECK(commpass_cart_neighbor_get(cart, t, source, NULL, t, target, weight) == COMMPASS_SUCCESS);
  CHECK(commpass_cart_rank(cart, &at) == COMMPASS_SUCCESS && at == rank);
  CHECK(weight[1] == 1);
  CHECK(commpass_cart_relative_shift(cart, offsets, &before, &next) == COMMPASS_SUCCESS);
  CHECK(before == source[0] && next == target[0]);
  CHECK(commpass_cart_relative_rank(cart, offsets, &next) == COMMPASS_SUCCESS && next == target[0]);
  CHECK(commpass_cart_relative_coord(cart, rank, relative) == COMMPASS_SUCCESS && relative[0] == 0);

  int out[t] = {10 * rank, 10 * rank + 1, 10 * rank + 2}, in[t] = {-1, -1, -1};
  const int counts[t] = {1, 1, 1}, displs[t] = {2, 1, 0};
  const MPI_Aint bytes[t] = {2 * sizeof(int), sizeof(int), 0};
  const MPI_Datatype types[t] = {MPI_INT, MPI_INT, MPI_INT};
#define EXPECT_ALLTOALL(slot, sent)                                                 \
  for (int i = 0; i < t; ++i) {                                                     \
    CHECK(in[slot] == (source[i] == MPI_PROC_NULL ? -1 : 10 * source[i] + (sent))); \
    in[slot] = -1;                                                                  \
  }
  CHECK(commpass_cart_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart) == COMMPASS_SUCCESS);
  EXPECT_ALLTOALL(i, i)
  CHECK(commpass_cart_alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, cart) == COMMPASS_SUCCESS);
  EXPECT_ALLTOALL(displs[i], displs[i])
  CHECK(commpass_cart_alltoallw(out, counts, bytes, types, in, counts, bytes, types, cart) == COMMPASS_SUCCESS);
  EXPECT_ALLTOALL(displs[i], displs[i])
  CHECK(commpass_cart_allgather(out, 1, MPI_INT, in, 1, MPI_INT, cart) == COMMPASS_SUCCESS);
  EXPECT_ALLTOALL(i, 0)
  CHECK(commpass_cart_allgatherv(out, 1, MPI_INT, in, counts, displs, MPI_INT, cart) == COMMPASS_SUCCESS);
  EXPECT_ALLTOALL(displs[i], 0)
  CHECK(commpass_cart_allgatherw(out, 1, MPI_INT, in, counts, bytes, types, cart) == COMMPASS_SUCCESS);
  EXPECT_ALLTOALL(displs[i], 0)

  commpass_cart_exchange all[6];
  CHECK(commpass_cart_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, cart, &all[0]) == COMMPASS_SUCCESS);
  CHECK(commpass_cart_alltoallv_init(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, cart, &all[1]) ==
        COMMPASS_SUCCESS);
  CHECK(commpass_cart_alltoallw_init(out, counts, bytes, types, in, counts, bytes, types, cart, &all[2]) ==
        COMMPASS_SUCCESS);
  CHECK(commpass_cart_allgather_init(out, 1, MPI_INT, in, 1, MPI_INT, cart, &all[3]) == COMMPASS_SUCCESS);
  CHECK(commpass_cart_allgatherv_init(out, 1, MPI_INT, in, counts, displs, MPI_INT, cart, &all[4]) == COMMPASS_SUCCESS);
  CHECK(commpass_cart_allgatherw_init(out, 1, MPI_INT, in, counts, bytes, types, cart, &all[5]) == COMMPASS_SUCCESS);
  for (int e = 0; e < 6; ++e) {
    int complete = 0;
    CHECK(commpass_cart_start(all[e]) == COMMPASS_SUCCESS);
    if (e % 2 == 0) CHECK(commpass_cart_wait(all[e]) == COMMPASS_SUCCESS);
    while (!complete) CHECK(commpass_cart_test(all[e], &complete) == COMMPASS_SUCCESS);
    EXPECT_ALLTOALL(e % 3 == 0 ? i : displs[i], e >= 3 ? 0 : e == 0 ? i : displs[i])
    CHECK(commpass_cart_exchange_free(&all[e]) == COMMPASS_SUCCESS && !all[e]);
  }
  if (periodic)
    CHECK(commpass_cart_alltoall_init(out, 1, MPI_INT, in, 2, MPI_INT, cart, &all[0]) == COMMPASS_ERROR_INPUT);
  CHECK(commpass_cart_free(&cart) == COMMPASS_SUCCESS && !cart);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

static void bad_arguments(commpass_comm comm) {
  const int dims[1] = {ranks + 1}, periods[1] = {1}, offsets[1] = {1};
  commpass_cart cart;
  CHECK(commpass_cart_neighborhood_create(comm, 1, dims, periods, 1, offsets, NULL, MPI_INFO_NULL, 0, &cart) ==
            COMMPASS_ERROR_INPUT &&
        !cart);
  CHECK(commpass_cart_neighborhood_create(comm, 0, dims, periods, 1, offsets, NULL, MPI_INFO_NULL, 0, &cart) ==
        COMMPASS_ERROR_INPUT);
  CHECK(commpass_cart_neighborhood_create(comm, 1, dims, periods, 1, NULL, NULL, MPI_INFO_NULL, 0, &cart) ==
        COMMPASS_ERROR_INPUT);
  CHECK(commpass_cart_rank(NULL, &rank) == COMMPASS_ERROR_INPUT);
  CHECK(commpass_cart_start(NULL) == COMMPASS_ERROR_INPUT);
}

static void halo(commpass_comm comm) {
  const int dims[2] = {ranks, 1}, periods[2] = {1, 0}, extent[2] = {1, 2}, depth[2] = {1, 0};
  int cells[3][2] = {{-1, -1}, {2 * rank, 2 * rank + 1}, {-1, -1}};
  commpass_cart_exchange exchange;
  CHECK(commpass_halo_init(comm, 2, dims, periods, extent, depth, sizeof(int), cells, &exchange) == COMMPASS_SUCCESS);
  CHECK(commpass_cart_start(exchange) == COMMPASS_SUCCESS);
  CHECK(commpass_cart_wait(exchange) == COMMPASS_SUCCESS);
  CHECK(cells[0][1] == 2 * ((rank + ranks - 1) % ranks) + 1);
  CHECK(cells[2][0] == 2 * ((rank + 1) % ranks));
  CHECK(commpass_cart_exchange_free(&exchange) == COMMPASS_SUCCESS);
  CHECK(commpass_halo_init(comm, 2, dims, periods, NULL, depth, sizeof(int), cells, &exchange) == COMMPASS_ERROR_INPUT);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  commpass_comm comm;
  CHECK(commpass_comm_create(MPI_COMM_WORLD, "lassen", &comm) == COMMPASS_SUCCESS);
  ring(comm, NULL, 1);
  ring(comm, "cartesian", 1);
  ring(comm, "trivial", 0);
  halo(comm);
  bad_arguments(comm);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(commpass_comm_free(&comm) == COMMPASS_SUCCESS);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
