// Stands before pthread_create of the C library, by which std::thread starts threads.
#include "thread_creation.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <limits>

namespace {

std::atomic<int> left = std::numeric_limits<int>::max(), started = 0;

using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

}  // namespace

// A sanitizer has its own, which must know of every thread.
extern "C" __attribute__((weak)) Create __interceptor_pthread_create;  // NOLINT: the name is the sanitizer's

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) noexcept {
  if (left.fetch_sub(1) <= 0) {
    left = 0;
    return EAGAIN;
  }
  ++started;
  static auto* const next = reinterpret_cast<Create*>(dlsym(RTLD_NEXT, "pthread_create"));
  return (__interceptor_pthread_create ? __interceptor_pthread_create : next)(thread, attributes, run, argument);
}

namespace commpass::test {

ThreadLimit::ThreadLimit(int count) { left = count; }
ThreadLimit::~ThreadLimit() { left = std::numeric_limits<int>::max(); }

int threads_started() { return started; }

}  // namespace commpass::test
