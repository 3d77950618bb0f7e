// A value that is made when it is first asked for.
#pragma once

#include <atomic>
#include <mutex>

namespace commpass {

/// Threads may ask at the same time; one of them makes the value.
template <class T>
class Lazy {
 public:
  template <class Make>
  const T& get(Make make) const {
    if (!is_made_.load(std::memory_order_acquire))
      std::call_once(once_, [&] {
        value_ = make();
        is_made_.store(true, std::memory_order_release);
      });
    return value_;
  }

 private:
  mutable std::atomic<bool> is_made_ = false;  // for those that ask again, sooner than the flag tells them
  mutable std::once_flag once_;
  mutable T value_;
};

}  // namespace commpass
