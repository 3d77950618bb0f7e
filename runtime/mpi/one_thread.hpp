// Checks that one thread at a time uses a communicator of ours.
#pragma once

#include <atomic>
#include <thread>

namespace commpass {

/// Did this thread initialise MPI? @throws MpiError
bool is_main_thread();

/// The thread that is in a call, if any.
class OneThread {
 public:
  /// While it lives, the calling thread is in a call. A thread that is in one may enter another.
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

  /// @throws InputError if another thread is in a call, or this one may not call MPI: below MPI_THREAD_SERIALIZED only
  /// the thread that initialized it may
  Use use() { return Use(*this); }

 private:
  std::atomic<std::thread::id> user_{};
};

}  // namespace commpass
