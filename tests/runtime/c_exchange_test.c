/* Exchanges that are planned, all-to-alls of several datatypes, and sparse exchanges in flight, from C. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/c_check.h"

#define CHECK_DONE(call) CHECK((call) == COMMPASS_SUCCESS)

static MPI_Info info_with(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  return info;
}

/* Every second double. */
static MPI_Datatype with_gaps(void) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &type);
  MPI_Type_commit(&type);
  return type;
}

/* Two blocks of three doubles to the next rank, and one to the one before, with gaps at the sender. */
static void neighbours(commpass_comm comm, const char* strategy) {
  enum { blocks = 3, each = 3 };
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  const int dest[blocks] = {next, next, previous}, src[blocks] = {previous, previous, next};
  const int counts[blocks] = {each, each, each}, displs[blocks] = {0, each, 2 * each};
  double sent[2 * blocks * each], received[blocks * each];
  MPI_Datatype gaps = with_gaps();
  MPI_Info info = strategy ? info_with("commpass_strategy", strategy) : MPI_INFO_NULL;
  commpass_exchange exchange;
  CHECK_DONE(commpass_neighbor_alltoallv_init(sent, blocks, dest, counts, displs, gaps, received, blocks, src, counts,
                                              displs, MPI_DOUBLE, info, comm, &exchange));
  CHECK(strategy ? strcmp(commpass_exchange_strategy(exchange), strategy) == 0
                 : commpass_exchange_predicted_seconds(exchange) >= 0);
  CHECK((commpass_exchange_predicted_seconds(exchange) < 0) == (strategy != NULL));
  CHECK(strlen(commpass_exchange_explanation(exchange)) > 0);
  for (int repetition = 0; repetition < 3; ++repetition) {
    for (int i = 0; i < 2 * blocks * each; ++i) sent[i] = i % 2 ? -1 : 1000 * repetition + 100 * rank + i / 2;
    memset(received, 0, sizeof received);
    CHECK_DONE(commpass_start(exchange));
    int complete = 0;
    while (!complete) CHECK_DONE(commpass_test(exchange, &complete));
    CHECK_DONE(commpass_wait(exchange));
    for (int i = 0; i < blocks * each; ++i)
      CHECK(received[i] == 1000 * repetition + 100 * (i < 2 * each ? previous : next) + i);
  }
  CHECK(commpass_start_buffers(sent + 1, received, exchange) == COMMPASS_ERROR_INPUT);
  CHECK(strstr(commpass_error_text(), "commpass_any_buffers") != NULL);
  CHECK_DONE(commpass_exchange_free(&exchange));
  CHECK(exchange == NULL);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  MPI_Type_free(&gaps);
}

/* A plan for any buffers, of which others come every time. */
static void other_buffers(commpass_comm comm) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, count = 2, zero = 0;
  MPI_Info info = info_with("commpass_any_buffers", "true");
  commpass_exchange exchange;
  int unused[2];
  CHECK_DONE(commpass_neighbor_alltoallv_init(unused, 1, &next, &count, &zero, MPI_INT, unused, 1, &previous, &count,
                                              &zero, MPI_INT, info, comm, &exchange));
  for (int repetition = 0; repetition < 3; ++repetition) {
    int* sent = malloc(2 * sizeof *sent);
    int* received = calloc(2, sizeof *received);
    sent[0] = rank, sent[1] = repetition;
    CHECK_DONE(commpass_start_buffers(sent, received, exchange));
    CHECK_DONE(commpass_wait(exchange));
    CHECK(received[0] == previous && received[1] == repetition);
    free(sent);
    free(received);
  }
  commpass_exchange_free(&exchange);
  MPI_Info_free(&info);
}

/* Every rank sends its number to all others. */
static void gather_from_all(commpass_comm comm) {
  int *all = malloc(sizeof(int) * (size_t)ranks), *ones = malloc(sizeof(int) * (size_t)ranks),
      *received = calloc((size_t)ranks, sizeof(int));
  for (int i = 0; i < ranks; ++i) all[i] = i, ones[i] = 1;
  const int number = 7 + rank;
  commpass_exchange exchange;
  CHECK_DONE(commpass_neighbor_allgatherv_init(&number, ranks, all, 1, MPI_INT, received, ranks, all, ones, all,
                                               MPI_INT, MPI_INFO_NULL, comm, &exchange));
  CHECK_DONE(commpass_start(exchange));
  CHECK_DONE(commpass_wait(exchange));
  for (int i = 0; i < ranks; ++i) CHECK(received[i] == 7 + i);
  commpass_exchange_free(&exchange);
  free(all), free(ones), free(received);
}

/* To even ranks two ints, to odd ones a double, as elements with gaps at the receiver; to itself nothing. */
static void all_of_several_types(commpass_comm comm, const char* strategy) {
  enum { room = 32 };
  MPI_Datatype gaps = with_gaps();
  int counts[room], from_counts[room], at[room];
  MPI_Datatype types[room], from_types[room];
  double sent[2 * room], received[2 * room], expected[2 * room];
  for (int i = 0; i < ranks; ++i) {
    counts[i] = i == rank ? 0 : i % 2 ? 1 : 2;
    types[i] = i == rank ? MPI_DATATYPE_NULL : i % 2 ? MPI_DOUBLE : MPI_INT;
    from_counts[i] = i == rank ? 0 : rank % 2 ? 1 : 2;
    from_types[i] = i == rank ? MPI_DATATYPE_NULL : rank % 2 ? gaps : MPI_INT;
    at[i] = i * 2 * (int)sizeof(double);
    sent[2 * i] = 100 * rank + i;
    if (i % 2 == 0) memcpy(&sent[2 * i], (int[]){rank, i}, 2 * sizeof(int));
    sent[2 * i + 1] = expected[2 * i] = expected[2 * i + 1] = -1;
    if (i == rank) continue;
    if (rank % 2) expected[2 * i] = 100 * i + rank;
    else memcpy(&expected[2 * i], (int[]){i, rank}, 2 * sizeof(int));
  }
  const size_t bytes = sizeof(double) * 2 * (size_t)ranks;
  for (int way = 0; way < 2; ++way) {
    for (int i = 0; i < 2 * ranks; ++i) received[i] = -1;
    if (way == 0) {
      CHECK_DONE(commpass_alltoallw(sent, counts, at, types, received, from_counts, at, from_types, strategy, comm));
    } else {
      commpass_exchange exchange;
      CHECK_DONE(commpass_alltoallw_init(sent, counts, at, types, received, from_counts, at, from_types, MPI_INFO_NULL,
                                         comm, &exchange));
      CHECK_DONE(commpass_start(exchange));
      CHECK_DONE(commpass_wait(exchange));
      commpass_exchange_free(&exchange);
    }
    CHECK(memcmp(received, expected, bytes) == 0);
  }
  MPI_Type_free(&gaps);
}

/* Three in flight, from lists that are gone when they are complete, which ranks complete in different orders. */
static void all_without_waiting(commpass_comm comm, const char* strategy) {
  int sent[64], received[64], equal[32], few[32];
  commpass_exchange v = NULL, w = NULL, same = NULL;
  for (int i = 0; i < 2 * ranks; ++i) sent[i] = 100 * rank + i, received[i] = -1;
  for (int i = 0; i < ranks; ++i) few[i] = equal[i] = -1;
  {
    int twice[32], at[32], once[32], at_bytes[32];
    MPI_Datatype types[32];
    for (int i = 0; i < ranks; ++i)
      twice[i] = 2, at[i] = 2 * i, once[i] = 1, at_bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
    CHECK_DONE(commpass_ialltoallv(sent, twice, at, MPI_INT, received, twice, at, MPI_INT, strategy, comm, &v));
    CHECK_DONE(commpass_ialltoallw(sent, once, at_bytes, types, few, once, at_bytes, types, strategy, comm, &w));
    CHECK_DONE(commpass_ialltoall(sent, 1, MPI_INT, equal, 1, MPI_INT, strategy, comm, &same));
    memset(twice, 0xff, sizeof twice);
    memset(at, 0xff, sizeof at);
    memset(once, 0xff, sizeof once);
    memset(at_bytes, 0xff, sizeof at_bytes);
  }
  CHECK(!strategy || strcmp(commpass_exchange_strategy(v), strategy) == 0);
  CHECK(strlen(commpass_exchange_explanation(v)) > 0);
  CHECK(commpass_start(v) == COMMPASS_ERROR_INPUT); /* it was, and cannot be again */
  int complete = 0;
  if (rank % 2 == 0) {
    while (!complete) CHECK_DONE(commpass_test(same, &complete));
    CHECK_DONE(commpass_wait(w));
    CHECK_DONE(commpass_wait(v));
  } else {
    CHECK_DONE(commpass_wait(v));
    CHECK_DONE(commpass_exchange_free(&w)); /* completes it */
    CHECK_DONE(commpass_wait(same));
  }
  for (int i = 0; i < ranks; ++i) {
    CHECK(received[2 * i] == 100 * i + 2 * rank && received[2 * i + 1] == 100 * i + 2 * rank + 1);
    CHECK(few[i] == 100 * i + rank && equal[i] == 100 * i + rank);
  }
  commpass_exchange_free(&v);
  commpass_exchange_free(&w);
  commpass_exchange_free(&same);
  CHECK(commpass_ialltoall(sent, -1, MPI_INT, equal, 1, MPI_INT, strategy, comm, &same) == COMMPASS_ERROR_INPUT);
  CHECK(same == NULL);
}

/* In place, and contiguous: the block for rank i goes to it. */
static void all_in_place(commpass_comm comm) {
  int counts[32], at[32], data[32];
  MPI_Datatype types[32];
  for (int i = 0; i < ranks; ++i)
    counts[i] = 1, at[i] = i * (int)sizeof(int), types[i] = MPI_INT, data[i] = 10 * rank + i;
  CHECK_DONE(commpass_alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, at, types, NULL, comm));
  for (int i = 0; i < ranks; ++i) CHECK(data[i] == 10 * i + rank);
  CHECK_DONE(commpass_alltoallw(data, counts, at, types, (int[32]){0}, counts, at, types, NULL, comm));
}

/* The last value counts. */
static void take_last(void* in, void* in_and_out, int* count, MPI_Datatype* type) {
  (void)type;
  memcpy(in_and_out, in, (size_t)*count * sizeof(double));
}

/* Rank r owns 2r and 2r+1, as a range or in the other order, and needs those of all ranks. */
static void by_index(commpass_comm comm, int is_range) {
  const int64_t owned[2] = {2 * rank + 1, 2 * rank};
  int64_t needed[64];
  double mine[2] = {owned[0], owned[1]}, ghosts[64];
  if (is_range) mine[0] = 2 * rank, mine[1] = 2 * rank + 1;
  for (int i = 0; i < 2 * ranks; ++i) needed[i] = i;
  commpass_exchange exchange;
  if (is_range)
    CHECK_DONE(commpass_indexed_range_init(2 * rank, 2 * rank + 2, needed, 2 * ranks, sizeof(double), 1, MPI_INFO_NULL,
                                           comm, &exchange));
  else {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "commpass_deterministic", "true");
    CHECK_DONE(commpass_indexed_init(owned, 2, needed, 2 * ranks, sizeof(double), 1, info, comm, &exchange));
    MPI_Info_free(&info);
  }
  CHECK_DONE(commpass_start_forward(mine, ghosts, exchange));
  CHECK_DONE(commpass_wait(exchange));
  for (int i = 0; i < 2 * ranks; ++i) CHECK(ghosts[i] == i);
  CHECK_DONE(commpass_start_reverse(ghosts, mine, MPI_DOUBLE, MPI_SUM, exchange));
  CHECK_DONE(commpass_wait(exchange));
  for (int i = 0; i < 2; ++i) CHECK(mine[i] == (ranks + 1.0) * (double)(is_range ? 2 * rank + i : owned[i]));
  CHECK(commpass_start(exchange) == COMMPASS_ERROR_INPUT); /* that is another kind */
  CHECK(strstr(commpass_error_text(), "of another kind") != NULL);
  CHECK(commpass_start_reverse(ghosts, mine, MPI_LONG_DOUBLE, MPI_SUM, exchange) == COMMPASS_ERROR_INPUT);
  if (!is_range) { /* values are combined in the order of ranks, after a rank's own */
    MPI_Op last;
    MPI_Op_create(take_last, 0, &last);
    for (int i = 0; i < 2 * ranks; ++i) ghosts[i] = 100 * rank + i;
    CHECK_DONE(commpass_start_reverse(ghosts, mine, MPI_DOUBLE, last, exchange));
    CHECK_DONE(commpass_wait(exchange));
    const int last_rank = ranks > 1 && rank == ranks - 1 ? ranks - 2 : ranks - 1;
    for (int i = 0; i < 2; ++i) CHECK(mine[i] == 100 * last_rank + (double)owned[i]);
    MPI_Op_free(&last);
  }
  commpass_exchange_free(&exchange);
}

/* Rank r contributes 10r and 10r+1 to the next rank, twice, and to itself once. Rank 0 contributes to none, and the
 * result of the last rank is empty. */
static void reduce_among_neighbours(commpass_comm comm) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, is_last = rank == ranks - 1;
  const int of_next = next == ranks - 1 ? 0 : 2, mine = is_last ? 0 : 2, edges = rank == 0 ? 0 : 3;
  const int dest[3] = {next, rank, next}, counts[3] = {of_next, mine, of_next};
  double values[6], result[2] = {-5, -5};
  int at = 0;
  for (int k = 0; k < edges; ++k)
    for (int i = 0; i < counts[k]; ++i) values[at++] = 10 * rank + i;
  commpass_exchange exchange;
  CHECK_DONE(
      commpass_neighbor_reduce_scatter_init(edges, dest, counts, mine, sizeof(double), MPI_INFO_NULL, comm, &exchange));
  for (int i = 0; i < mine; ++i) {
    const int own = rank == 0 ? 0 : 10 * rank + i, others = previous == 0 ? 0 : 2 * (10 * previous + i);
    CHECK_DONE(commpass_start_reverse(values, result, MPI_DOUBLE, MPI_SUM, exchange));
    CHECK_DONE(commpass_wait(exchange));
    CHECK(result[i] == (rank == 0 && previous == 0 ? -5 : own + others));
  }
  if (!mine)
    for (int i = 0; i < 2; ++i) {
      CHECK_DONE(commpass_start_reverse(values, result, MPI_DOUBLE, MPI_SUM, exchange));
      CHECK_DONE(commpass_wait(exchange));
      CHECK(result[i] == -5);
    }
  CHECK(commpass_start_forward(values, result, exchange) == COMMPASS_ERROR_INPUT);
  CHECK(strstr(commpass_error_text(), "the way there was not planned") != NULL);
  CHECK(commpass_start_allreduce(values, result, MPI_DOUBLE, MPI_SUM, exchange) == COMMPASS_ERROR_INPUT);
  CHECK_DONE(commpass_exchange_free(&exchange));
  CHECK(commpass_neighbor_reduce_scatter_init(rank == 0 ? 1 : 0, NULL, NULL, 1, 8, MPI_INFO_NULL, comm, &exchange) ==
        COMMPASS_ERROR_INPUT);
  CHECK(exchange == NULL && strstr(commpass_error_text(), "destinations is NULL") != NULL);
}

/* Rank r has the indices r, r+1 and r again. */
static void reduce_sparse(commpass_comm comm) {
  const int64_t indices[3] = {rank, rank + 1, rank};
  int values[3] = {rank, 100, 7};
  commpass_exchange exchange;
  CHECK_DONE(commpass_sparse_allreduce_init(indices, 3, sizeof(int), MPI_INFO_NULL, comm, &exchange));
  CHECK(strlen(commpass_exchange_strategy(exchange)) > 0);
  const int here = rank + 7 + (rank > 0 ? 100 : 0), next = 100 + (rank + 1 < ranks ? rank + 8 : 0);
  CHECK_DONE(commpass_start_allreduce(values, values, MPI_INT, MPI_SUM, exchange));
  int complete = 0;
  while (!complete) CHECK_DONE(commpass_test(exchange, &complete));
  CHECK(values[0] == here && values[1] == next && values[2] == here);
  values[0] = rank, values[1] = 100, values[2] = 7;
  CHECK_DONE(commpass_start_allreduce(values, values, MPI_INT, MPI_MAX, exchange));
  CHECK_DONE(commpass_wait(exchange));
  CHECK(values[0] == (rank > 0 ? 100 : 7) && values[1] == 100 && values[2] == values[0]);
  CHECK(commpass_start_allreduce(values, values, MPI_DOUBLE, MPI_SUM, exchange) == COMMPASS_ERROR_INPUT);
  CHECK(commpass_start_reverse(values, values, MPI_INT, MPI_SUM, exchange) == COMMPASS_ERROR_INPUT);
  CHECK_DONE(commpass_exchange_free(&exchange));
  CHECK(commpass_sparse_allreduce_init(NULL, rank == 0 ? 1 : 0, 4, MPI_INFO_NULL, comm, &exchange) ==
        COMMPASS_ERROR_INPUT);
  CHECK(exchange == NULL && strstr(commpass_error_text(), "the list of named indices is NULL") != NULL);
}

/* Rank 0 owns values that all others need, which share a node. */
static void combine_on_the_way(void) {
  enum { values = 5000 };
  int64_t* needed = malloc(values * sizeof(int64_t));
  double *mine = malloc(values * sizeof(double)), *ghosts = malloc(values * sizeof(double));
  for (int i = 0; i < values; ++i) needed[i] = i, mine[i] = 1000, ghosts[i] = rank;
  char layout[256] = "0";
  for (int other = 1; other < ranks; ++other) strcat(layout, ",1");
  commpass_comm comm;
  CHECK_DONE(commpass_comm_create_laid_out(MPI_COMM_WORLD, "lassen", layout, &comm));
  MPI_Info info = info_with("commpass_strategy", "two-step");
  MPI_Info_set(info, "commpass_overwrite", "true");
  commpass_exchange exchange;
  CHECK_DONE(
      commpass_indexed_range_init(0, rank == 0 ? values : 0, needed, values, sizeof(double), 1, info, comm, &exchange));
  CHECK((strstr(commpass_exchange_explanation(exchange), "where they meet") != NULL) == (ranks > 2));
  MPI_Op last;
  MPI_Op_create(take_last, 0, &last);
  if (ranks > 2) {
    CHECK(commpass_start_reverse(ghosts, mine, MPI_DOUBLE, last, exchange) == COMMPASS_ERROR_INPUT);
    CHECK(strcmp(commpass_error_text(),
                 "indexed exchange: its operation is not commutative, and values are combined where they meet; "
                 "plan it with the info commpass_deterministic.") == 0);
  }
  CHECK_DONE(commpass_start_reverse(ghosts, mine, MPI_DOUBLE, MPI_SUM, exchange)); /* which a refused start allows */
  CHECK_DONE(commpass_wait(exchange));
  for (int i = 0; i < values; ++i) CHECK(mine[i] == (rank == 0 ? ranks * (ranks - 1) / 2 : 1000));
  commpass_exchange_free(&exchange);
  /* Sums of all ranks, which rank 0 adds, likewise; in the order of ranks the last value counts. */
  for (int is_ordered = 0; is_ordered < 2; ++is_ordered) {
    if (is_ordered) MPI_Info_set(info, "commpass_deterministic", "true");
    CHECK_DONE(commpass_sparse_allreduce_init(needed, values, sizeof(double), info, comm, &exchange));
    const int meets = strstr(commpass_exchange_explanation(exchange), "where they meet") != NULL;
    CHECK(meets == (ranks > 2 && !is_ordered));
    const int code = commpass_start_allreduce(ghosts, mine, MPI_DOUBLE, last, exchange);
    CHECK(code == (meets ? COMMPASS_ERROR_INPUT : 0));
    if (meets) CHECK(strstr(commpass_error_text(), "plan it with the info commpass_deterministic.") != NULL);
    CHECK_DONE(commpass_wait(exchange));
    if (!meets)
      for (int i = 0; i < values; ++i) CHECK(mine[i] == ranks - 1);
    commpass_exchange_free(&exchange);
  }
  MPI_Op_free(&last);
  MPI_Info_free(&info);
  commpass_comm_free(&comm);
  free(needed);
  free(mine);
  free(ghosts);
}

/* Two sparse exchanges in flight, completed in the other order. */
static void sparse_in_flight(commpass_comm comm) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, one = 1, zero = 0;
  const double value = rank, other = 100 + rank;
  commpass_exchange variable, constant;
  CHECK_DONE(commpass_ialltoallv_crs(1, &next, &one, &zero, MPI_DOUBLE, &value, MPI_DOUBLE, NULL, comm, &variable));
  CHECK_DONE(commpass_ialltoall_crs(1, &next, 1, MPI_DOUBLE, &other, MPI_DOUBLE, "direct+nbx", comm, &constant));
  CHECK(strcmp(commpass_exchange_strategy(constant), "direct+nbx") == 0);
  commpass_received got;
  CHECK_DONE(commpass_exchange_received(constant, &got));
  CHECK(got.nnz == 1 && got.src[0] == previous && ((double*)got.values)[0] == 100 + previous);
  commpass_received_free(&got);
  CHECK_DONE(commpass_wait(variable));
  int complete = 0;
  CHECK_DONE(commpass_test(variable, &complete));
  CHECK(complete);
  CHECK_DONE(commpass_exchange_received(variable, &got));
  CHECK(got.nnz == 1 && got.src[0] == previous && ((double*)got.values)[0] == previous);
  commpass_received_free(&got);
  commpass_exchange_free(&variable);
  commpass_exchange_free(&constant);
}

/* An error on one rank is the error of all. */
static void wrong_on_one_rank(commpass_comm comm) {
  const int count = rank == 0 ? -1 : 1, zero = 0;
  commpass_exchange exchange = (commpass_exchange)&failures;
  CHECK(commpass_neighbor_alltoallv_init(&failures, 1, &rank, &count, &zero, MPI_INT, &failures, 0, NULL, NULL, NULL,
                                         MPI_INT, MPI_INFO_NULL, comm, &exchange) == COMMPASS_ERROR_INPUT);
  CHECK(exchange == NULL && strstr(commpass_error_text(), "the count for rank 0 is -1") != NULL);
  MPI_Info info = info_with("commpass_calls", rank == 0 ? "many" : "10");
  CHECK(commpass_neighbor_alltoallv_init(NULL, 0, NULL, NULL, NULL, MPI_INT, NULL, 0, NULL, NULL, NULL, MPI_INT, info,
                                         comm, &exchange) == COMMPASS_ERROR_INPUT);
  CHECK(strstr(commpass_error_text(), "commpass_calls many") != NULL);
  MPI_Info_free(&info);
  CHECK(commpass_start(NULL) == COMMPASS_ERROR_INPUT);
  CHECK(commpass_alltoallv_init(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, MPI_INFO_NULL, NULL, &exchange) ==
        COMMPASS_ERROR_INPUT);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(strcmp(commpass_version(), COMMPASS_TEST_VERSION) == 0);
  char layout[32];
  commpass_comm comm;
  snprintf(layout, sizeof layout, "%dx2", ranks + 1);
  CHECK(commpass_comm_create_laid_out(MPI_COMM_WORLD, "lassen", layout, &comm) == COMMPASS_ERROR_INPUT);
  snprintf(layout, sizeof layout, "%dx1", ranks);
  CHECK_DONE(commpass_comm_create_laid_out(MPI_COMM_WORLD, "lassen", layout, &comm));
  neighbours(comm, NULL);
  neighbours(comm, "standard");
  neighbours(comm, "stfw,n=1");
  other_buffers(comm);
  gather_from_all(comm);
  all_of_several_types(comm, NULL);
  all_of_several_types(comm, "stfw,n=1");
  all_without_waiting(comm, NULL);
  all_without_waiting(comm, "stfw,n=1");
  all_without_waiting(comm, "mpi");
  all_in_place(comm);
  by_index(comm, 0);
  by_index(comm, 1);
  reduce_among_neighbours(comm);
  reduce_sparse(comm);
  combine_on_the_way();
  sparse_in_flight(comm);
  wrong_on_one_rank(comm);
  commpass_comm_free(&comm);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
