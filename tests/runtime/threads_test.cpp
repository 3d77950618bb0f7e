// Choosing starts threads only where MPI has been told that there are some, and needs none.
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>

#include <optional>
#include <vector>

#include "model/machine/layout.hpp"
#include "runtime/communicator.hpp"
#include "runtime/mpi/oversubscription.hpp"
#include "runtime/world.hpp"
#include "thread_creation.hpp"

namespace {

/// What MPI is taken to have been told.
std::optional<int> told;

}  // namespace

// Before the library's own, which is called PMPI_Query_thread, too.
extern "C" int MPI_Query_thread(int* level) {
  const int code = PMPI_Query_thread(level);
  if (told) *level = *told;
  return code;
}

// Many cores, whatever this machine has and the launcher lets a rank use.
extern "C" int sched_getaffinity(pid_t, std::size_t size, cpu_set_t* cores) noexcept {
  constexpr int many = 8;
  CPU_ZERO_S(size, cores);
  for (int core = 0; core < many; ++core) CPU_SET_S(core, size, cores);
  return 0;
}

namespace commpass {
namespace {

using test::rank_of;
using test::size_of;

class Threads : public testing::Test {
 protected:
  void TearDown() override { told.reset(); }

  /// Plans enough messages of a rank that pricing them is worth threads. @return the threads that this rank started
  int started_by_choosing() {
    constexpr int messages = 12000;
    Communicator communicator(MPI_COMM_WORLD, test::some_machine(), {Layout::with_ppn(size_of(), 2)});
    const Rank next = (rank_of() + 1) % size_of(), previous = (rank_of() + size_of() - 1) % size_of();
    std::vector<SendEdge> sends;
    std::vector<ReceiveEdge> receives;
    for (Bytes i = 0; i < messages; ++i) {
      sends.push_back({next, i, 1});
      receives.push_back({previous, i, 1});
    }
    std::vector<std::byte> out(messages), in(messages);
    const int before = test::threads_started();
    const auto exchange = communicator.neighbor_exchange(out.data(), sends, in.data(), receives);
    EXPECT_TRUE(exchange.predicted_seconds());
    return test::threads_started() - before;
  }
};

TEST_F(Threads, AreSharedByTheRanksOfANode) {
  told = MPI_THREAD_FUNNELED;
  EXPECT_EQ(threads_of_rank(MPI_COMM_WORLD), 8U / static_cast<unsigned>(size_of()));
}

TEST_F(Threads, AreStartedWhereMpiKnowsOfThreads) {
  told = MPI_THREAD_FUNNELED;
  const int started = started_by_choosing();
  if (size_of() > 2) {  // fewer have too few strategies
    EXPECT_GT(started, 0);
  }
}

TEST_F(Threads, AreNotStartedWhereMpiKnowsOfNone) {
  told = MPI_THREAD_SINGLE;
  EXPECT_EQ(threads_of_rank(MPI_COMM_WORLD), 1U);
  EXPECT_EQ(started_by_choosing(), 0);
}

TEST_F(Threads, AreNotNeeded) {
  told = MPI_THREAD_FUNNELED;
  const test::ThreadLimit none(0);
  EXPECT_EQ(started_by_choosing(), 0);
}

}  // namespace
}  // namespace commpass
