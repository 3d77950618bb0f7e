// GoogleTest under MPI: every rank runs every test; only rank 0 prints, unless a rank fails.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>

int main(int argc, char** argv) {
  // With --threads as its first argument, a test may have several threads that call MPI at once.
  const bool threads = argc > 1 && std::strcmp(argv[1], "--threads") == 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  struct PrintFailures : testing::EmptyTestEventListener {
    int rank;
    explicit PrintFailures(int r) : rank(r) {}
    void OnTestPartResult(const testing::TestPartResult& result) override {
      if (result.failed()) std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank, result.file_name(), result.line_number(), result.summary());
    }
  };
  listeners.Append(new PrintFailures(rank));
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
