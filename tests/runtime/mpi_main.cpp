// GoogleTest under MPI: every rank runs every test; only rank 0 prints, unless a rank fails. A test that fails on one
// rank fails on all, and one that a rank leaves while others wait for it is aborted, so that no rank waits for a
// timeout.
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace {

constexpr std::chrono::seconds patience{10};  // of a rank whose test has failed, with ranks that are still in it

class Failures : public testing::EmptyTestEventListener {
 public:
  explicit Failures(int rank) : rank_(rank) { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  void free() { MPI_Comm_free(&comm_); }

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(), result.summary());
  }

  void OnTestEnd(const testing::TestInfo& test) override {
    const bool failed = test.result()->Failed();
    int any = failed ? 1 : 0, is_known = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm_, &request);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (MPI_Test(&request, &is_known, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_known) {
      if (failed && std::chrono::steady_clock::now() > end) {
        std::fprintf(stderr, "rank %d: %s.%s failed here, and others are still in it\n", rank_, test.test_suite_name(),
                     test.name());
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
      std::this_thread::yield();
    }
    if (any != 0 && !failed) ADD_FAILURE() << "on another rank";
  }

  int rank_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace

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
  auto* const failures = new Failures(rank);
  listeners.Append(failures);
  int failed = RUN_ALL_TESTS();
  failures->free();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
