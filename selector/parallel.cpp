#include "selector/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace commpass {

unsigned usable_cores() {
  cpu_set_t cores;
  const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
  return static_cast<unsigned>(known ? std::max(1, CPU_COUNT(&cores)) : 1);
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work, const std::function<void(std::size_t)>& done, unsigned most_threads) {
  std::vector<std::promise<void>> promises(count);
  std::atomic<std::size_t> next = 0;
  const auto take = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
        promises[i].set_value();
      } catch (...) {
        promises[i].set_exception(std::current_exception());
        next = count;  // begin nothing more
      }
    }
  };
  const auto most = std::min<std::size_t>(count, most_threads > 0 ? most_threads : count);
  std::vector<std::jthread> threads(std::min<std::size_t>(most, usable_cores()));
  for (auto& thread : threads) thread = std::jthread(take);
  for (std::size_t i = 0; i < count; ++i) {
    promises[i].get_future().get();
    done(i);
  }
}

}  // namespace commpass
