// Threads that a test refuses, and counts. For every user: a limit of the system (RLIMIT_NPROC) does not bind root.
#pragma once

namespace commpass::test {

/// Refuses all threads of this process but the next `count`, until it is destroyed.
class ThreadLimit {
 public:
  explicit ThreadLimit(int count);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;
};

/// Threads that were started so far.
int threads_started();

}  // namespace commpass::test
