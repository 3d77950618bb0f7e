// Work on several threads, on as many as there are, and on none.
#include "selector/choose/parallel.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "thread_creation.hpp"

namespace commpass {
namespace {

/// Who did what.
struct Log {
  std::set<std::thread::id> workers;
  std::vector<std::size_t> done;
  int started = 0;  ///< threads
};

Log run(std::size_t count, unsigned most_threads) {
  Log log;
  std::mutex mutex;
  const int before = test::threads_started();
  in_parallel(
      count,
      [&](std::size_t) {
        const std::scoped_lock lock(mutex);
        log.workers.insert(std::this_thread::get_id());
      },
      [&](std::size_t i) { log.done.push_back(i); }, most_threads);
  log.started = test::threads_started() - before;
  return log;
}

const std::vector<std::size_t> in_order{0, 1, 2, 3, 4, 5, 6, 7};

TEST(Parallel, WorksInTheCallingThreadIfOneIsEnough) {
  const auto log = run(8, 1);
  EXPECT_EQ(log.workers, std::set{std::this_thread::get_id()});
  EXPECT_EQ(log.done, in_order);
  EXPECT_EQ(log.started, 0);
}

TEST(Parallel, StartsAThreadForEachCoreButNoMoreThanIsAskedFor) {
  const auto log = run(8, 2);
  EXPECT_EQ(log.done, in_order);
  EXPECT_EQ(log.started, usable_cores() < 2 ? 0 : 2);
}

TEST(Parallel, WorksInTheCallingThreadIfTheSystemGivesNoThread) {
  const test::ThreadLimit none(0);
  const auto log = run(8, 0);
  EXPECT_EQ(log.workers, std::set{std::this_thread::get_id()});
  EXPECT_EQ(log.done, in_order);
}

TEST(Parallel, GoesOnWithTheThreadsThatTheSystemGives) {
  const test::ThreadLimit one(1);
  const auto log = run(8, 0);
  EXPECT_EQ(log.workers.size(), 1U);
  EXPECT_EQ(log.done, in_order);
  EXPECT_EQ(log.started, usable_cores() < 2 ? 0 : 1);
}

TEST(Parallel, ThrowsWhatTheFirstFailingWorkThrows) {
  for (const int threads : {0, 1, 2}) {
    const test::ThreadLimit limit(threads);
    std::vector<std::size_t> done;
    const auto work = [&](std::size_t i) {
      if (i == 3) throw std::out_of_range("the fourth");
    };
    EXPECT_THROW(in_parallel(1000, work, [&](std::size_t i) { done.push_back(i); }), std::out_of_range) << threads;
    EXPECT_EQ(done, (std::vector<std::size_t>{0, 1, 2})) << threads;
  }
}

}  // namespace
}  // namespace commpass
