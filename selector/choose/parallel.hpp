// Independent pieces of work, as many at once as there are cores.
#pragma once

#include <cstddef>
#include <functional>

namespace commpass {

/// The cores that this process may use: an MPI process is often bound to some of them.
unsigned usable_cores();

/// Runs work(0) … work(count − 1) on the cores that this process may use, and done(i) for each in order of i on the
/// calling thread, as soon as all up to i are done. Where one thread is enough, or the system gives none, all is done
/// by the calling thread; where it gives fewer, by those.
/// @param most_threads  for work that needs much memory; 0: as many as there are cores; 1: no thread is started
/// @throws what the first failing work(i) threw, after those that had begun have ended
void in_parallel(
    std::size_t count, const std::function<void(std::size_t)>& work,
    const std::function<void(std::size_t)>& done = [](std::size_t) {}, unsigned most_threads = 0);

}  // namespace commpass
