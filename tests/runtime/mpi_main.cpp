// GoogleTest under MPI: every rank runs every test; only rank 0 prints, unless a rank fails.
#include <gtest/gtest.h>
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
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
