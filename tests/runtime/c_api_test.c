/* The C interface, from C: sparse exchanges, in which every rank sends to some others, which know nothing of it, and
 * all-to-alls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/c_check.h"

/* Rank r sends r + i doubles, in elements that lie two apart, to rank r + i, for i = 0, 1, 2. */
static void variable_sizes_with_gaps(commpass_comm comm, const char* strategy) {
  enum { messages = 3 };
  int dest[messages], counts[messages], displs[messages], total = 0;
  for (int i = 0; i < messages; ++i) {
    dest[i] = (rank + i) % ranks;
    counts[i] = rank + i;
    displs[i] = total + i; /* with an element between */
    total += counts[i];
  }
  double* values = calloc((size_t)(2 * (total + messages)), sizeof *values);
  for (int i = 0; i < messages; ++i)
    for (int j = 0; j < counts[i]; ++j) values[2 * (displs[i] + j)] = 1000.0 * rank + 100.0 * i + j;
  MPI_Datatype sparse;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &sparse);
  MPI_Type_commit(&sparse);

  commpass_received got;
  CHECK(commpass_alltoallv_crs_alloc(messages, dest, counts, displs, sparse, values, MPI_DOUBLE, &got, strategy,
                                     comm) == COMMPASS_SUCCESS);
  CHECK(got.nnz == messages);
  int seen = 0;
  for (int source = 0; source < ranks; ++source)
    for (int i = 0; i < messages; ++i)
      if ((source + i) % ranks == rank && seen < got.nnz) {
        CHECK(got.src[seen] == source);
        CHECK(got.counts[seen] == source + i);
        for (int j = 0; j < got.counts[seen]; ++j)
          CHECK(((double*)got.values)[got.displs[seen] + j] == 1000.0 * source + 100.0 * i + j);
        ++seen;
      }
  CHECK(seen == messages);

  /* The same into memory of our own, which is large enough, and then too small. */
  int nnz = got.nnz, size = got.size;
  int* src = calloc((size_t)(3 * nnz), sizeof *src);
  double* received = calloc((size_t)size + 1, sizeof *received);
  CHECK(commpass_alltoallv_crs(messages, dest, counts, displs, sparse, values, &nnz, &size, src, src + nnz,
                               src + 2 * nnz, MPI_DOUBLE, received, strategy, comm) == COMMPASS_SUCCESS);
  CHECK(nnz == got.nnz && size == got.size && memcmp(src, got.src, sizeof *src * (size_t)nnz) == 0 &&
        memcmp(received, got.values, sizeof *received * (size_t)size) == 0);
  nnz = 1;
  CHECK(commpass_alltoallv_crs(messages, dest, counts, displs, sparse, values, &nnz, &size, src, src + 3, src + 6,
                               MPI_DOUBLE, received, strategy, comm) == COMMPASS_ERROR_TRUNCATED);
  CHECK(nnz == got.nnz);
  CHECK(strstr(commpass_error_text(), "room for 1") != NULL);

  commpass_received_free(&got);
  CHECK(got.values == NULL);
  MPI_Type_free(&sparse);
  free(src);
  free(received);
  free(values);
}

static void constant_size(commpass_comm comm, const char* strategy) {
  int dest[2] = {(rank + 1) % ranks, 0}, nnz = ranks + 1;
  const int messages = dest[0] == 0 ? 1 : 2; /* one to each rank at most */
  const int values[4] = {rank, 1, rank, 2};
  int* src = calloc((size_t)nnz, sizeof *src);
  int* received = calloc(2 * (size_t)nnz, sizeof *received);
  CHECK(commpass_alltoall_crs(messages, dest, 2, MPI_INT, values, &nnz, src, 2, MPI_INT, received, strategy, comm) ==
        COMMPASS_SUCCESS);
  CHECK(nnz == (rank == 0 ? ranks : 1));
  for (int i = 0; i < nnz; ++i)
    CHECK(received[2 * i] == src[i] && received[2 * i + 1] == ((src[i] + 1) % ranks == rank ? 1 : 2));
  commpass_received got;
  CHECK(commpass_alltoall_crs_alloc(messages, dest, 2, MPI_INT, values, MPI_INT, &got, strategy, comm) ==
        COMMPASS_SUCCESS);
  CHECK(got.nnz == nnz && got.size == 2 * nnz &&
        memcmp(got.values, received, sizeof *received * (size_t)got.size) == 0);
  commpass_received_free(&got);
  free(src);
  free(received);
}

/* Rank i sends i + j + 1 numbers to rank j, and keeps some. */
static void all_to_all_of_any_sizes(commpass_comm comm, const char* strategy) {
  int* counts = calloc((size_t)(2 * ranks), sizeof *counts);
  int* displs = counts + ranks;
  int total = 0;
  for (int other = 0; other < ranks; ++other) {
    counts[other] = rank + other + 1;
    displs[other] = total;
    total += counts[other];
  }
  int* sent = calloc((size_t)(2 * total), sizeof *sent);
  int* received = sent + total;
  for (int other = 0; other < ranks; ++other)
    for (int i = 0; i < counts[other]; ++i) sent[displs[other] + i] = 10000 * rank + 100 * other + i;
  CHECK(commpass_alltoallv(sent, counts, displs, MPI_INT, received, counts, displs, MPI_INT, strategy, comm) ==
        COMMPASS_SUCCESS);
  for (int other = 0; other < ranks; ++other)
    for (int i = 0; i < counts[other]; ++i) CHECK(received[displs[other] + i] == 10000 * other + 100 * rank + i);
  CHECK(commpass_alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, received, counts, displs, MPI_INT, strategy,
                           comm) == COMMPASS_SUCCESS);
  CHECK(memcmp(received, sent, sizeof *sent * (size_t)total) == 0); /* every rank has its own back */
  free(sent);
  free(counts);
}

static void all_to_all_of_one_size(commpass_comm comm, const char* strategy) {
  double* sent = calloc((size_t)(4 * ranks), sizeof *sent);
  double* received = sent + 2 * ranks;
  for (int i = 0; i < 2 * ranks; ++i) sent[i] = 1000.0 * rank + i;
  CHECK(commpass_alltoall(sent, 2, MPI_DOUBLE, received, 2, MPI_DOUBLE, strategy, comm) == COMMPASS_SUCCESS);
  for (int i = 0; i < 2 * ranks; ++i) CHECK(received[i] == 1000.0 * (i / 2) + 2 * rank + i % 2);
  free(sent);
}

/* Whatever one rank gets wrong, all ranks hear of it, and none waits. */
static void bad_arguments_of_one_rank(commpass_comm comm, const char* strategy) {
  const int is_wrong = rank == ranks - 1, one = 1, zero = 0, minus = -1;
  const int* const nowhere = NULL;
  const double value = 0;
  commpass_received got;
  MPI_Datatype uncommitted;
  MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &uncommitted);
  const MPI_Datatype types[] = {MPI_DATATYPE_NULL, uncommitted};
#define CHECK_REFUSED(call, what)                       \
  do {                                                  \
    CHECK((call) == COMMPASS_ERROR_INPUT);              \
    CHECK(strstr(commpass_error_text(), what) != NULL); \
  } while (0)
  for (int i = 0; i < 2; ++i) {
    const MPI_Datatype type = is_wrong ? types[i] : MPI_DOUBLE;
    CHECK_REFUSED(commpass_alltoall_crs_alloc(1, &zero, 1, type, &value, MPI_DOUBLE, &got, strategy, comm), "");
    CHECK_REFUSED(commpass_alltoall_crs_alloc(0, NULL, 1, MPI_DOUBLE, &value, type, &got, strategy, comm), "");
    CHECK_REFUSED(commpass_alltoallv_crs_alloc(1, &zero, &one, &zero, type, &value, MPI_DOUBLE, &got, strategy, comm),
                  "");
  }
  CHECK_REFUSED(
      commpass_alltoall_crs_alloc(is_wrong ? -1 : 0, &zero, 1, MPI_DOUBLE, &value, MPI_DOUBLE, &got, strategy, comm),
      "there are -1 messages");
  CHECK_REFUSED(commpass_alltoallv_crs_alloc(is_wrong ? -1 : 0, &zero, &one, &zero, MPI_DOUBLE, &value, MPI_DOUBLE,
                                             &got, strategy, comm),
                "there are -1 messages");
  CHECK_REFUSED(commpass_alltoallv_crs_alloc(1, &zero, is_wrong ? &minus : &zero, &zero, MPI_DOUBLE, &value, MPI_DOUBLE,
                                             &got, strategy, comm),
                "the count for message 0 is -1");
  CHECK_REFUSED(
      commpass_alltoall_crs_alloc(1, &zero, is_wrong ? -1 : 0, MPI_DOUBLE, &value, MPI_DOUBLE, &got, strategy, comm),
      "the count for message 0 is -1");
  CHECK_REFUSED(commpass_alltoall_crs_alloc(1, is_wrong ? nowhere : &zero, 1, MPI_DOUBLE, &value, MPI_DOUBLE, &got,
                                            strategy, comm),
                "no destinations");
  CHECK_REFUSED(commpass_alltoallv_crs_alloc(1, &zero, is_wrong ? nowhere : &one, &zero, MPI_DOUBLE, &value, MPI_DOUBLE,
                                             &got, strategy, comm),
                "there are 0 counts");
  CHECK_REFUSED(
      commpass_alltoall_crs_alloc(0, NULL, 1, MPI_DOUBLE, &value, MPI_DOUBLE, is_wrong ? NULL : &got, strategy, comm),
      "no place for received messages");
  CHECK_REFUSED(
      commpass_alltoall_crs_alloc(1, &zero, 1, MPI_DOUBLE, is_wrong ? NULL : &value, MPI_DOUBLE, &got, strategy, comm),
      "no buffer");
  MPI_Type_free(&uncommitted);
  CHECK(commpass_alltoall_crs_alloc(0, NULL, 1, MPI_DOUBLE, NULL, MPI_DOUBLE, &got, strategy, comm) ==
            COMMPASS_SUCCESS &&
        got.nnz == 0); /* and it works on */
  commpass_received_free(&got);
}

static void predictions(void) {
  const int source[] = {0, 1, 5}, dest[] = {4, 5, 0};
  const int64_t bytes[] = {8, 1 << 20, 3};
  commpass_prediction chosen = NULL, direct = NULL;
  CHECK(commpass_predict("lassen", "2x4", 8, 3, source, dest, bytes, NULL, &chosen) == COMMPASS_SUCCESS);
  CHECK(commpass_predict("lassen", "2x4", 8, 3, source, dest, bytes, "standard", &direct) == COMMPASS_SUCCESS);
  CHECK(strcmp(commpass_prediction_strategy(direct), "standard") == 0);
  CHECK(0 < commpass_prediction_seconds(chosen) &&
        commpass_prediction_seconds(chosen) <= commpass_prediction_seconds(direct));
  CHECK(strstr(commpass_prediction_explanation(chosen), commpass_prediction_strategy(chosen)) != NULL);
  commpass_prediction_free(&direct);
  commpass_prediction_free(&chosen);
  CHECK(chosen == NULL);
  CHECK(commpass_predict_generated("lassen", "16x8", "alltoall:ranks=128,bytes=8", "tuna,radix=auto", &chosen) ==
        COMMPASS_SUCCESS);
  CHECK(strncmp(commpass_prediction_strategy(chosen), "tuna,radix=", 11) == 0);
  CHECK(strstr(commpass_prediction_explanation(chosen), "faster than sending directly") != NULL);
  commpass_prediction_free(&chosen);
  const int beyond[] = {4, 5, 8};
  CHECK(commpass_predict("lassen", "2x4", 8, 3, source, beyond, bytes, NULL, &chosen) == COMMPASS_ERROR_INPUT);
  CHECK(chosen == NULL && strstr(commpass_error_text(), "edge 5 -> 8") != NULL);
  CHECK(commpass_predict("lassen", "2x4", 7, 3, source, dest, bytes, NULL, &chosen) == COMMPASS_ERROR_INPUT);
  CHECK(commpass_predict("lassen", NULL, 8, 3, source, dest, bytes, NULL, &chosen) == COMMPASS_ERROR_INPUT);
  CHECK(commpass_predict("lassen", "2x4", 8, 3, source, NULL, bytes, NULL, &chosen) == COMMPASS_ERROR_INPUT);
  CHECK(commpass_predict_generated("lassen", "2x4", "no-such", NULL, &chosen) == COMMPASS_ERROR_INPUT);
  CHECK(strstr(commpass_error_text(), "no-such") != NULL);
}

int main(int argc, char** argv) {
  predictions();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  commpass_comm comm = NULL;
  CHECK(commpass_comm_create(MPI_COMM_WORLD, "no-such-profile", &comm) == COMMPASS_ERROR_INPUT);
  CHECK(comm == NULL && strstr(commpass_error_text(), "no-such-profile") != NULL);
  CHECK(commpass_comm_create(MPI_COMM_WORLD, "lassen", &comm) == COMMPASS_SUCCESS);
  CHECK(commpass_comm_use_stream(comm, NULL) == COMMPASS_SUCCESS);
  CHECK(commpass_comm_use_stream(NULL, NULL) == COMMPASS_ERROR_INPUT);
  const char* strategies[] = {NULL, "direct+nbx", "direct+reduce", "two-step+dense"};
  for (int i = 0; i < 4; ++i) {
    variable_sizes_with_gaps(comm, strategies[i]);
    constant_size(comm, strategies[i]);
    bad_arguments_of_one_rank(comm, strategies[i]);
  }
  CHECK(commpass_alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, NULL, NULL) == COMMPASS_ERROR_INPUT);
  CHECK(strstr(commpass_error_text(), "communicator is NULL") != NULL);
  constant_size(comm, "direct+rma");
  const char* alltoall_strategies[] = {NULL, "standard,window=2", "stfw,n=1", "two-step"};
  for (int i = 0; i < 4; ++i) {
    all_to_all_of_any_sizes(comm, alltoall_strategies[i]);
    all_to_all_of_one_size(comm, alltoall_strategies[i]);
  }
  CHECK(commpass_alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, "no-such", comm) == COMMPASS_ERROR_INPUT);
  CHECK(strstr(commpass_error_text(), "no-such") != NULL);
  CHECK(commpass_alltoall(NULL, -1, MPI_INT, NULL, 0, MPI_INT, NULL, comm) == COMMPASS_ERROR_INPUT);
  const int nowhere = ranks, one = 1, zero = 0;
  commpass_received got;
  CHECK(commpass_alltoallv_crs_alloc(rank == 0, &nowhere, &one, &zero, MPI_INT, &one, MPI_INT, &got, NULL, comm) ==
        COMMPASS_ERROR_INPUT);
  CHECK(strstr(commpass_error_text(), "out of range") != NULL);
  commpass_comm_free(&comm);
  CHECK(comm == NULL);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
