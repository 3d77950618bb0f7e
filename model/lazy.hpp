// A value that is made when it is first asked for.
#pragma once

#include <mutex>

namespace commpass {

/// Threads may ask at the same time; one of them makes the value.
template <class T>
class Lazy {
 public:
  template <class Make>
  const T& get(Make make) const {
    std::call_once(is_made_, [&] { value_ = make(); });
    return value_;
  }

 private:
  mutable std::once_flag is_made_;
  mutable T value_;
};

}  // namespace commpass
