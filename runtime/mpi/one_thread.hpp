// A communicator of ours belongs to one thread at a time, and that is checked.
#pragma once

#include <atomic>
#include <thread>

namespace commpass {

/// Knows which thread is in a call.
class OneThread {
 public:
  /// As long as it lives the calling thread is in a call. A thread that is in one may enter another.
  class [[nodiscard]] Use {
   public:
    explicit Use(OneThread& of);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    OneThread& of_;
    bool is_outermost_ = false;
  };

  /// @throws InputError if another thread is in a call, or may not call MPI: below MPI_THREAD_SERIALIZED only that does
  /// which initialized it
  Use use() { return Use(*this); }

 private:
  std::atomic<std::thread::id> user_{};
};

}  // namespace commpass
