#include "selector/choose/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

namespace commpass {

unsigned usable_cores() {
  cpu_set_t cores;
  const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;
  return static_cast<unsigned>(known ? std::max(1, CPU_COUNT(&cores)) : 1);
}

namespace {

/// As many threads as the system gives, up to `count`: a limit on threads must not fail what one could do.
std::vector<std::jthread> start_threads(std::size_t count, const std::function<void()>& run) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  try {
    while (threads.size() < count) threads.emplace_back(run);
  } catch (const std::system_error&) {  // NOLINT: those that have started do the work
  }
  return threads;
}

}  // namespace

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                 const std::function<void(std::size_t)>& done, unsigned most_threads) {
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
  const auto most = std::min<std::size_t>({count, most_threads > 0 ? most_threads : count, usable_cores()});
  const auto threads = most > 1 ? start_threads(most, take) : std::vector<std::jthread>();
  for (std::size_t i = 0; i < count; ++i) {
    if (threads.empty()) work(i);
    else promises[i].get_future().get();
    done(i);
  }
}

}  // namespace commpass
