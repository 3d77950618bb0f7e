#include "selector/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace commpass {

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work, const std::function<void(std::size_t)>& done) {
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
  std::vector<std::jthread> threads(std::max(1U, std::thread::hardware_concurrency()));
  for (auto& thread : threads) thread = std::jthread(take);
  for (std::size_t i = 0; i < count; ++i) {
    promises[i].get_future().get();
    done(i);
  }
}

}  // namespace commpass
